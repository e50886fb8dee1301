"""`relight policy report`: on a stack's tables, and on an archive without an account."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from console.incident.twins import MemoryIncidents
from console.main import main
from console.policy.account import Account
from functions.adapters.archive_folder import FolderArchive
from functions.guard.guard import Guard
from functions.twins.facts import MemoryFacts
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.switches import MemorySwitches
from functions.twins.triage import MemoryNodeStates, MemoryTelemetry
from policies.contract.archive import Happening
from policies.contract.archive_names import INCIDENTS, POLICIES
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore
from policies.coordination.snapshot import Change
from policies.coordination.switches import SelfShadow
from simulator.in_force import Revisions
from simulator.replay import Question
from tests.tools.envelopes import NOW
from tests.tools.replays import documents, head, history, incidents, revision, shelved

SHADOW, ACTIVE = {**documents()[0], "mode": "shadow"}, documents()[1]


def in_force() -> list[Happening]:
    return [each for document in (SHADOW, ACTIVE) for each in revision(head(document), NOW - timedelta(hours=1))]


@pytest.fixture(scope="module")
def past() -> list[Incident]:
    """What a policy in shadow and one that acts made of some hours."""
    return incidents(history(), Question(Revisions.of(in_force())))


def archived(where: Path, past: list[Incident], *more: Happening) -> Path:
    told = [
        Happening(each.updated_at, "incident", f"{each.id}:{each.version}", each.model_dump(mode="json"))
        for each in past
    ]
    folder = FolderArchive(where)
    for key, body in shelved([], {POLICIES: [*in_force(), *more], INCIDENTS: told}).objects.items():
        folder.put(key, body)
    return where


def account(past: list[Incident], *shadows: SelfShadow) -> Account:
    store, policies = MemoryStore(), MemoryPolicies()
    for each in past:
        store.write(Change(None, each))
    for document in (SHADOW, ACTIVE):
        policies.put_live(document)
        Guard(policies, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(document["name"])
    switches = MemorySwitches(policies)
    switches.shadows = {each.policy: each for each in shadows}
    later = max(each.updated_at for each in past) + timedelta(minutes=1)
    clusters = [past[0].cluster]
    return Account(
        clusters, MemoryIncidents(store), policies, switches, MemoryNodeStates(), store, MemoryFacts(), lambda: later
    )


def report(*words: str | Path) -> int:
    return main(["policy", "report", *map(str, words)])


def test_a_stack_tells_what_its_policies_in_shadow_would_have_done(
    past: list[Incident], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.policy.account.connect", lambda *_: account(past))
    assert report("--json") == 0
    told = json.loads(capsys.readouterr().out)
    (one,) = told["policies"]
    assert (one["name"], one["would"]) == ("fell-off-the-bus", ["isolate", "replace_node", "resume_job"])
    mine = [each for each in past if each.policy.name == "fell-off-the-bus"]
    assert {case["incident"] for case in one["cases"]} <= {each.id for each in mine}
    assert len({case["instance"] for case in one["cases"]}) == len({each.node.instance_id for each in mine}) == 3
    assert told["acted"] == sum(bool(each.done) for each in past) > 0


def test_the_archive_tells_the_same_without_an_account(
    past: list[Incident], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.policy.account.connect", lambda *_: account(past))
    assert report("--json") == 0
    of_stack = json.loads(capsys.readouterr().out)
    assert report("--json", "--events", archived(tmp_path / "archive", past)) == 0
    of_archive = json.loads(capsys.readouterr().out)
    assert of_archive["policies"] == of_stack["policies"]
    assert (of_archive["quiet"], of_archive["acted"]) == (of_stack["quiet"], of_stack["acted"])


def test_a_policy_that_put_itself_in_shadow_is_one_of_them_until_it_is_lifted(
    past: list[Incident], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    itself = SelfShadow(policy="contained", cluster="c", incident="1", since=NOW, why="it acted too often")
    told = Happening(NOW, "shadow", "contained:00000001", itself.model_dump(mode="json"))
    assert report("--json", "--events", archived(tmp_path / "one", past, told)) == 0
    assert "contained" in json.loads(capsys.readouterr().out)["quiet"], "what it acted on before is no case"
    lifted = itself.model_copy(update={"lifted_at": NOW + timedelta(hours=1), "version": 2})
    after = Happening(NOW + timedelta(hours=1), "shadow", "contained:00000002", lifted.model_dump(mode="json"))
    assert report("--json", "--events", archived(tmp_path / "two", past, told, after)) == 0
    assert json.loads(capsys.readouterr().out)["quiet"] == []


def test_a_policy_that_put_itself_in_shadow_and_was_turned_off_since_is_none_of_them(
    past: list[Incident], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    itself = SelfShadow(policy="contained", cluster="c", incident="1", since=NOW, why="it acted too often")
    told = Happening(NOW, "shadow", "contained:00000001", itself.model_dump(mode="json"))
    off = revision(head({**ACTIVE, "mode": "off"}), NOW + timedelta(minutes=5), 2)
    assert report("--json", "--events", archived(tmp_path, past, told, *off)) == 0
    assert json.loads(capsys.readouterr().out)["quiet"] == []


def test_what_could_not_be_read_of_the_archive_is_told_beside_the_report(
    past: list[Incident], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = archived(tmp_path, past)
    one = next((folder / INCIDENTS).rglob("*.gz"))
    one.write_bytes(one.read_bytes()[:-20])
    assert report("--events", folder, "--json") == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["policies"] is not None
    assert "could not be read; `relight archive stats` names them" in told.err


def test_people_read_a_table_or_the_mail(
    past: list[Incident], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = archived(tmp_path / "archive", past)
    assert report("--events", folder) == 0
    table = capsys.readouterr().out
    assert "fell-off-the-bus" in table
    assert "1 of 1 policies in shadow would have acted" in table
    assert report("--events", folder, "--mail-text") == 0
    assert capsys.readouterr().out.startswith("What policies in shadow would have done, ")


@pytest.mark.parametrize("words", [(), ("--mail-text",)])
def test_where_no_policy_is_in_shadow_that_is_told_and_why(
    words: tuple[str, ...], past: list[Incident], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = archived(tmp_path / "archive", past)
    assert report("--events", folder, *words) == 0
    assert "The demo has all of its policies active" not in capsys.readouterr().out
    armed = [revision(head({**SHADOW, "mode": "active"}), NOW + timedelta(minutes=5), 2)]
    assert report("--events", archived(tmp_path / "armed", past, *armed[0]), *words) == 0
    told = capsys.readouterr().out
    assert "No policy that would touch a node or a run is in shadow" in told
    assert "The demo has all of its policies active" in told


def test_an_empty_archive_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report("--events", tmp_path) == 1
    assert "the archive is empty" in capsys.readouterr().err
