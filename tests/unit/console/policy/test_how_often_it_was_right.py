"""`relight policy list` shows how often each policy was right, and what nobody saw coming."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from moto import mock_aws

from console.main import main
from console.policy.counting import HEADING, count
from functions.adapters.coordination import DynamoDBCoordinationStore
from functions.adapters.policies import DynamoPolicies
from functions.guard.guard import Guard
from functions.twins.notices import MemoryNotices
from functions.twins.triage import MemoryTelemetry
from policies.contract.restraints import Trust
from policies.coordination.snapshot import Change
from policies.coordination.switches import ALL_ACTIVE
from policies.explain.trust import trust_standing
from policies.precision.misses import Misses, Restart
from policies.precision.record import Act, Grade, Ground, Record
from tests.tools.incidents import CLUSTER, at, plan
from tests.tools.judged import DAY, HOUR, REPLACING, Judged
from tests.tools.tables import create_policies_table, create_tables
from tests.unit.policies.lint.mistakes import NAME, document

NOW = datetime.now(UTC)


def act(number: int, *, faulty: bool | None) -> Act:
    moment = NOW - timedelta(days=3, minutes=number)
    said = () if faulty is None else (Ground(grade=Grade.PERSON, faulty=faulty, at=moment),)
    proven = moment if number == 0 else None
    return Act(
        incident=f"{number}",
        at=moment,
        node="i-1",
        generation="i-1#0",
        grounds=said,
        changed_at=proven,
        verified_at=proven,
    )


def record(cluster: str, *faulty: bool | None) -> Record:
    return Record(cluster=cluster, policy=NAME, acts=tuple(act(n, faulty=each) for n, each in enumerate(faulty)))


MISSES = Misses(
    cluster="west",
    restarts=(
        Restart(id="a", job="train/a", node="i-1", kind="job.failed", at=NOW - timedelta(days=2), policies=(NAME,)),
        Restart(id="b", job="train/b", node="i-2", kind="job.failed", at=NOW - timedelta(days=1)),
        Restart(id="c", job="train/c", node="i-3", kind="job.failed", at=NOW, foreseen=True),
    ),
)


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stack of two clusters: one policy with three judged acts of four in west and one in east."""
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_tables(client)
        create_policies_table(client)
        policies = DynamoPolicies(client, "policies")
        policies.put_live(document())
        Guard(policies, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(NAME)
        store = DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
        for each in (record("west", None, True, False, None), record("east", None)):
            store.write(Change(None, each))
        store.write(Change(None, MISSES))
        told = {"Clusters": "west,east", "FleetTable": "fleet", "IncidentsTable": "incidents"}
        outputs = {name: {"Value": value} for name, value in {**told, "PoliciesTable": "policies"}.items()}
        template = {"Resources": {"Alerts": {"Type": "AWS::SNS::Topic"}}, "Outputs": outputs}
        boto3.client("cloudformation", region_name="us-east-1").create_stack(
            StackName="Relight", TemplateBody=json.dumps(template)
        )
        yield


@pytest.mark.usefixtures("stack")
def test_the_list_has_columns_for_it_and_tells_the_clusters_misses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "list", "--table", "policies"]) == 0
    heading, line, east, west, _ = capsys.readouterr().out.splitlines()
    assert HEADING in heading
    assert line.split() == [NAME, "active", "rev", "1", "5", "0.75", "4", "(2?)", "1", "accepted"]
    assert east == "east: 0 ends of runs within 90 days that nobody wished, 0 of them missed by every policy."
    assert west == "west: 3 ends of runs within 90 days that nobody wished, 2 of them missed by every policy."
    assert line.index("0.75") + 4 == heading.index("precision") + 9


@pytest.mark.usefixtures("stack")
def test_machines_get_each_clusters_share(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "list", "--json", "--table", "policies"]) == 0
    found = json.loads(capsys.readouterr().out)
    (policy,) = found["policies"]
    whole = policy["precision"]
    clusters = whole.pop("clusters")
    counts = {"acts": 5, "judged": 4, "faulty": 3, "healthy": 1, "presumed": 2, "unknown": 1, "missed": 1}
    assert whole == {**counts, "precision": 0.75}
    assert (clusters["west"]["precision"], clusters["east"]["precision"]) == (pytest.approx(2 / 3, abs=1e-4), 1.0)
    assert [each["job"] for each in found["runs"]["west"]["missed"]] == ["train/a", "train/b"]
    assert found["runs"]["east"] == {"restarts": 0, "missed": []}


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize("words", [["--stack", "Other"], []])
def test_where_the_stack_is_not_found_or_another_ones_the_list_says_so(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    if not words:
        boto3.client("dynamodb", region_name="us-east-1").delete_table(TableName="policies")
        create_other()
    assert main(["policy", "list", "--table", "policies" if words else "others", *words]) == 0
    told = capsys.readouterr()
    assert "precision" not in told.out
    assert "Precision and misses are left out" in told.err
    assert "--stack" in told.err


def create_other() -> None:
    boto3.client("dynamodb", region_name="us-east-1").create_table(
        TableName="others",
        KeySchema=[{"AttributeName": "name", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("name", "sk")],
        BillingMode="PAY_PER_REQUEST",
    )


def test_explain_says_how_far_the_policy_is_trusted() -> None:
    told = Judged()
    trusted = REPLACING.model_copy(update={"trust": Trust(at_least=0.8, of=10)})
    told.say(told.acted("i-1", 0, trusted), "healthy", HOUR)
    told.acted("i-2", 60, trusted)
    incident = told.acted("i-3", 20 * DAY, trusted)
    standing = trust_standing(incident, told.record(trusted), ALL_ACTIVE, at(20 * DAY + HOUR))
    assert str(standing) == (
        "1 of 2 judged acts were on faulty hardware, 1 of them presumed, 1 are not judged;"
        " 80% is asked for, once 10 are"
    )
    assert standing
    assert (standing.document()["precision"], standing.document()["of"]) == (0.5, 10)
    old = incident.model_copy(update={"policy": plan()})
    assert trust_standing(old, told.record(trusted), ALL_ACTIVE, at(0)) is None
    assert trust_standing(incident, None, ALL_ACTIVE, at(0)) is None


def test_a_policy_that_never_acted_has_nothing_to_show() -> None:
    counted = count(Judged().store, [CLUSTER], ["quiet"], NOW)
    assert counted.columns("quiet").split() == ["-"] * 4
    assert counted.of("quiet")["precision"]["precision"] is None
