"""`relight policy explain` on the tables of a stack: incidents, policies in force, the node's state, budgets."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import boto3
import pytest
from moto import mock_aws

from console.incident.parts import IncidentError
from console.incident.twins import MemoryIncidents
from console.main import main
from console.policy.account import Account, connect, explain_incident, explain_node, in_force
from console.policy.explaining import of_incident, of_node
from console.policy.screen import Wanted
from functions.adapters.coordination import DynamoDBCoordinationStore
from functions.adapters.facts import DynamoFacts
from functions.adapters.node_states import DynamoNodeStates
from functions.adapters.policies import DynamoPolicies
from functions.guard.guard import Guard
from functions.ports.facts import FactKey
from functions.ports.triage import NodeKey, StoredState
from functions.twins.facts import MemoryFacts
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.switches import MemorySwitches
from functions.twins.triage import MemoryNodeStates, MemoryTelemetry
from policies.contract.errors import BadInputError
from policies.contract.vocabulary import PolicyMode
from policies.coordination.budgets import Budget, Reservation
from policies.coordination.denials import Denial, Refusal
from policies.coordination.denying import subject_of_note
from policies.coordination.incident import Incident
from policies.coordination.leases import nobodys
from policies.coordination.memory import MemoryStore
from policies.coordination.notes import FindingNote
from policies.coordination.snapshot import Change
from policies.coordination.states import IncidentStatus
from policies.coordination.switches import EVERYTHING
from policies.evaluator import evaluate
from policies.explain.known import Known
from policies.explain.verdicts import Outcome
from policies.facts.history import History
from policies.facts.maintenance import Maintenance
from tests.tools.envelopes import NOW, delivery, event, node, rules
from tests.tools.envelopes import policy as made
from tests.tools.tables import create_policies_table, create_tables
from tests.unit.policies.lint.mistakes import NAME, document

CLUSTER = "c"
LATER = NOW + timedelta(minutes=5)
BUDGET = Budget(
    cluster=CLUSTER,
    scope="replacements#cluster",
    reservations=tuple(Reservation(incident=name * 8, at=NOW, counts_until=LATER) for name in ("aaaa", "bbbb")),
)


def incident() -> Incident:
    """An incident that parked for want of a share, as coordinate would keep it."""
    policy = made(**document())
    judged = evaluate([delivery(event())], state="", rulebook=rules(policy), now=NOW)
    (finding,) = judged.findings
    return Incident(
        id="4be1" * 8,
        cluster=CLUSTER,
        generation=finding.generation,
        node=finding.node,
        policy=finding.policy,
        status=IncidentStatus.PARKED,
        findings=(FindingNote.of(finding),),
        opened_at=NOW,
        settle_until=NOW,
        deadline=LATER,
        updated_at=NOW,
        reason="budget replacements#cluster is used up",
    )


def state() -> str:
    return evaluate([delivery(event())], state="", rulebook=rules(made(**document())), now=NOW).state


def fill(store: Any, policies: Any, states: Any) -> None:  # noqa: ANN401 - a twin or an adapter of each port
    store.write(Change(None, incident()))
    store.write(Change(None, BUDGET))
    for each in (
        document(),
        document(name="waits", count={"at_least": 3}, examples=[]),
        document(name="sleeps", mode="off"),
        document(name="lemon", unless="node.lemon_score < 60 || capacity.spares > 0", examples=[]),
    ):
        policies.put_live(each)
        Guard(policies, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(each["name"])
    states.commit({NodeKey(CLUSTER, node().instance_id): StoredState(state())}, NOW)


def facts_in(facts: Any) -> Any:  # noqa: ANN401 - the twin or the adapter
    history = History(cluster=CLUSTER, instance=node().instance_id)
    facts.keep(FactKey(CLUSTER, "history", node().instance_id), history.model_dump_json(), LATER)
    facts.keep(FactKey(CLUSTER, "maintenance", node().instance_id), "junk", LATER)
    return facts


@pytest.fixture(params=["twin", "aws"])
def account(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    if request.param == "twin":
        store, policies, states = MemoryStore(), MemoryPolicies(), MemoryNodeStates()
        fill(store, policies, states)
        yield Account(
            [CLUSTER],
            MemoryIncidents(store),
            policies,
            MemorySwitches(policies),
            states,
            store,
            facts_in(MemoryFacts()),
            lambda: LATER,
        )
        return
    with mock_aws():
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_tables(client)
        create_policies_table(client)
        outputs = {
            "FleetTable": "fleet",
            "IncidentsTable": "incidents",
            "PoliciesTable": "policies",
            "Clusters": CLUSTER,
        }
        template = {
            "Resources": {"Queue": {"Type": "AWS::SQS::Queue"}},
            "Outputs": {name: {"Value": value} for name, value in outputs.items()},
        }
        boto3.client("cloudformation", region_name="us-east-1").create_stack(
            StackName="Relight", TemplateBody=json.dumps(template)
        )
        tables = DynamoDBCoordinationStore(client, fleet_table="fleet", incidents_table="incidents")
        fill(tables, DynamoPolicies(client, "policies"), DynamoNodeStates(client, "fleet"))
        facts_in(DynamoFacts(client, "fleet"))
        yield connect("Relight", None)


def test_an_incident_is_explained_by_what_is_in_force_and_what_was_counted(account: Account) -> None:
    told = explain_incident(account, "4be1", days=10_000)
    (explained,) = told.events
    outcomes = {verdict.policy: verdict.outcome for verdict in explained.verdicts}
    excepted = Outcome.EXCEPTED
    assert outcomes == {NAME: Outcome.FIRED, "waits": Outcome.WAITS, "sleeps": Outcome.OFF, "lemon": excepted}
    fired = next(verdict for verdict in explained.verdicts if verdict.policy == NAME)
    sentence = "it fired: its finding is part of this incident. Asked again now, it says: counted when it first came"
    assert fired.reason.startswith(f"{sentence}, and not again: 1 of 1 occurrences on ")
    assert fired.revision == 1


def test_facts_are_told_as_they_are_now_with_those_that_nobody_knows(account: Account) -> None:
    (explained,) = explain_incident(account, "4be1", days=10_000).events
    (lemon,) = [verdict for verdict in explained.verdicts if verdict.policy == "lemon"]
    assert lemon.facts == Known({"node.lemon_score": 0}, ("capacity.spares",), 0.0)
    assert "unless `node.lemon_score < 60` is true: node.lemon_score is 0" in lemon.reason


def test_a_document_that_cannot_be_read_is_taken_for_unknown_and_not_for_none(account: Account) -> None:
    """A node without a document had no incident: of one whose document is junk nobody knows."""
    account.facts.keep(FactKey(CLUSTER, "history", node().instance_id), "junk", LATER)  # type: ignore[attr-defined]
    (explained,) = explain_incident(account, "4be1", days=10_000).events
    (lemon,) = [verdict for verdict in explained.verdicts if verdict.policy == "lemon"]
    assert lemon.facts is not None
    assert (lemon.facts.values, "node.lemon_score" in lemon.facts.unknown) == ({}, True)


def test_a_policy_whose_item_was_deleted_is_told_as_off() -> None:
    policies = MemoryPolicies()
    for act in (lambda: policies.put_live(document()), lambda: policies.live_items.pop(NAME)):
        act()
        Guard(policies, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(NAME)
    (one,) = in_force(policies)
    assert (one.policy.name, one.policy.mode, one.revision) == (NAME, PolicyMode.OFF, 2)


def test_the_limit_that_holds_it_is_named_with_who_has_the_shares(account: Account) -> None:
    (limit,) = explain_incident(account, "4be1", days=10_000).limits
    assert (limit.taken, limit.allowed, limit.mine) == (2, 2, False)
    held = limit.holds
    assert held is (account.clock() < LATER or limit.taken == limit.allowed)
    assert [name[:4] for name in limit.holders] == ["aaaa", "bbbb"]


def test_a_policy_that_nobody_knows_is_refused_of_an_incident_too(account: Account) -> None:
    with pytest.raises(BadInputError, match="there is no policy nope"):
        of_incident(account, "4be1", 10_000, Wanted(policy="nope"))


def test_it_is_printed_for_people_and_for_machines(account: Account, capsys: pytest.CaptureFixture[str]) -> None:
    assert of_incident(account, "4be1", 10_000, Wanted()) == 0
    told = capsys.readouterr().out
    assert told.startswith("incident 4be14be14be1 parked: lost-gpu, node-of-i-1 (i-1): budget replacements#cluster")
    assert "  limit         replacements#cluster: 2 of 2 within 600 s: it holds this one back" in told
    assert "  its node      i-1 is in maintenance: its document cannot be read" in told
    assert "  fired         lost-gpu (active, revision 1)" in told
    assert of_incident(account, "4be1", 10_000, Wanted(as_json=True)) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["incident"]["reason"], found["limits"][0]["taken"]) == ("budget replacements#cluster is used up", 2)


def test_who_has_its_node_in_hand_is_told_with_why_and_until_when(account: Account) -> None:
    key, until = FactKey(CLUSTER, "maintenance", node().instance_id), account.clock() + timedelta(hours=2)
    word = Maintenance(until=until, by="ann", why="new NIC")
    account.facts.keep(key, word.to_json(), LATER)  # type: ignore[attr-defined]
    told = explain_incident(account, "4be1", days=10_000)
    assert told.in_hand == f"i-1 is in maintenance until {until:%Y-%m-%d %H:%M} UTC, by ann: new NIC"
    account.facts.keep(key, word.model_copy(update={"until": NOW}).to_json(), LATER)  # type: ignore[attr-defined]
    assert explain_incident(account, "4be1", days=10_000).in_hand == ""


def test_a_nodes_incidents_are_listed_and_the_newest_is_explained(
    account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    assert of_node(account, "i-1", 10_000, Wanted(), last=False) == 0
    assert capsys.readouterr().out.endswith("Next: relight policy explain --incident ID\n")
    assert of_node(account, "node-of-i-1", 10_000, Wanted(policy="waits"), last=True) == 0
    assert "waits         waits (active, revision 1)" in capsys.readouterr().out


def test_a_node_without_incidents_says_what_to_do(account: Account) -> None:
    with pytest.raises(IncidentError, match="about 'i-9'") as raised:
        explain_node(account, "i-9", days=10_000)
    assert "relight policy explain --event FILE" in raised.value.hint


def test_what_keeps_the_policy_of_an_incident_from_acting_is_told(
    account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain_incident(account, "4be1", days=10_000).halted == ""
    account.heads.put_live({"name": EVERYTHING, "mode": "off", "edited_by": "kim"})  # type: ignore[attr-defined]
    assert of_incident(account, "4be1", 10_000, Wanted()) == 0
    assert "  its policy    takes nothing away now: everything is stopped by kim\n" in capsys.readouterr().out
    assert of_incident(account, "4be1", 10_000, Wanted(as_json=True)) == 0
    assert json.loads(capsys.readouterr().out)["halted"] == "everything is stopped by kim"
    account.heads.put_live({"name": EVERYTHING, "mode": "active"})  # type: ignore[attr-defined]
    account.heads.put_live(document(mode="shadow"))  # type: ignore[attr-defined]
    Guard(account.heads, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(NAME)  # type: ignore[arg-type]
    assert explain_incident(account, "4be1", days=10_000).halted == f"policy {NAME} is in shadow"


def test_a_stack_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    with mock_aws():
        assert main(["policy", "explain", "--node", "i-1", "--stack", "Other"]) == 1
    assert "there is no stack 'Other'" in capsys.readouterr().err


def test_the_table_is_listed_for_machines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_policies_table(client)
        policies = DynamoPolicies(client, "policies")
        for each in (document(), document(name="bad", evidence="sticky")):
            policies.put_live(each)
            Guard(policies, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(each["name"])
        assert main(["policy", "list", "--json", "--table", "policies"]) == 0
    found = json.loads(capsys.readouterr().out)
    bad, good = found["policies"]
    assert (bad["name"], bad["revision"], bad["item"]) == ("bad", None, "rejected (1 problems)")
    assert (good["name"], good["revision"], good["kinds"], good["examples"]) == (NAME, 1, ["gpu.xid"], 2)
    assert found["stopped"] == ""


def test_who_wants_nothing_done_is_told_with_why_and_until_when(
    account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    incident = explain_incident(account, "4be1", days=10_000).incident
    now, subject = account.clock(), subject_of_note(incident, incident.findings[0])
    denial = Denial(id="1", at=now - timedelta(hours=1), until=now + timedelta(hours=3), by="kim", why="a test")
    refusal = Refusal(incident="4be0", subjects=(subject,), denial=denial)
    lease = nobodys(CLUSTER, incident.generation, now).model_copy(update={"refusals": (refusal,)})
    account.budgets.write(Change(None, lease))  # type: ignore[attr-defined]
    told = explain_incident(account, "4be1", days=10_000)
    assert told.denied.startswith("denied by kim at ")
    assert told.denied.endswith(" UTC: a test")
    assert of_incident(account, "4be1", 10_000, Wanted()) == 0
    assert f"  nobody acts   {told.denied}" in capsys.readouterr().out
