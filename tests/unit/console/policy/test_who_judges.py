"""`relight policy explain --event` says whose policies judged, and takes those in force when it is asked to."""

import json
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
import yaml
from moto import mock_aws

from console.main import main
from functions.adapters.policies import DynamoPolicies
from functions.guard.guard import Guard
from functions.twins.notices import MemoryNotices
from functions.twins.triage import MemoryTelemetry
from policies.coordination.switches import SelfShadow
from tests.tools.editing import DOCUMENT, NAME
from tests.tools.envelopes import NOW, SHIPPED
from tests.tools.tables import create_policies_table

ASK = ("policy", "explain", "--event", "event.json")
CURRENT = ("--policies", "current")
Shown = pytest.CaptureFixture[str]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DynamoPolicies]:
    """One policy in force, armed, at revision 2; its file in `mine/` is another: it is in shadow."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLICIES_TABLE", "policies")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    Path("event.json").write_text('{"kind": "gpu.xid", "attributes": {"xid": 79}}')
    Path("mine").mkdir()
    Path("mine", f"{NAME}.yaml").write_text(yaml.safe_dump({**DOCUMENT, "mode": "shadow"}))
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_policies_table(client)
        policies = DynamoPolicies(client, "policies")
        for document in ({**DOCUMENT, "settle": "30s"}, DOCUMENT):
            policies.put_live(document)
            Guard(policies, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(NAME)
        yield policies


def told(capsys: Shown, *words: str) -> list[str]:
    assert main([*ASK, *words]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.usefixtures("table")
def test_an_answer_by_files_says_so_and_how_to_ask_the_table(capsys: Shown) -> None:
    first, _event, verdict, *_ = told(capsys, "--policies", "mine")
    assert first == "judged by 1 policy in files, mine; by those in force: --policies current"
    assert verdict.endswith(f"{NAME} (shadow, in a file)"), "a file has no revision"
    first, *_ = told(capsys)
    assert first.startswith("judged by ")
    assert f"policies in files, {SHIPPED}; by those in force" in first


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("words", [CURRENT, ("--table", "policies"), (*CURRENT, "--table", "policies")])
def test_the_policies_in_force_judge_when_they_are_asked_for(words: tuple[str, ...], capsys: Shown) -> None:
    first, _event, verdict, *_ = told(capsys, *words)
    assert first == "judged by 1 policy in force, of the table policies"
    assert verdict == f"  fired         {NAME} (active, revision 2)"


@pytest.mark.usefixtures("table")
def test_machines_hear_whose_policies_they_were(capsys: Shown) -> None:
    def judged(*words: str) -> tuple[object, object]:
        assert main([*ASK, *words, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        return found["judged_by"], found["events"][0]["policies"][0]["revision"]

    assert judged("--policies", "mine") == ({"policies": 1, "files": ["mine"], "table": None}, None)
    assert judged(*CURRENT) == ({"policies": 1, "files": [], "table": "policies"}, 2)


def test_what_keeps_the_policies_in_force_from_acting_is_told(table: DynamoPolicies, capsys: Shown) -> None:
    assert "isolate" in "".join(told(capsys, *CURRENT))
    table.self_shadows.put(SelfShadow(policy=NAME, cluster="west", incident="4be1", since=NOW, why="a loop"))
    assert "a loop" in "".join(told(capsys, *CURRENT))
    assert main(["policy", "stop", "--reason", "a bad image", "--edited-by", "kim"]) == 0
    capsys.readouterr()
    assert "everything is stopped by kim: a bad image" in "".join(told(capsys, *CURRENT))


@pytest.mark.usefixtures("table")
def test_files_and_a_table_are_not_asked_at_once(capsys: Shown) -> None:
    assert main([*ASK, "--policies", "mine", "--table", "policies"]) == 2
    assert "Leave one of them out" in capsys.readouterr().err


@pytest.mark.usefixtures("table")
def test_a_table_without_policies_judges_nothing(capsys: Shown) -> None:
    create_policies_table(boto3.client("dynamodb", region_name="us-east-1"), "empty")
    assert main([*ASK, "--table", "empty"]) == 1
    assert "no policy is in force in the table empty. `relight policy push` puts some there." in capsys.readouterr().err
