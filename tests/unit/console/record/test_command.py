"""`relight policy record`: of a folder's archive without an account, of a stack's tables, into a policy's file."""

import argparse
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from console.commands import policy as command
from console.incident.twins import MemoryIncidents
from console.main import main
from console.policy.account import Account
from console.record.reading import Sources
from console.record.running import perform
from functions.guard.guard import Guard
from functions.twins.facts import MemoryFacts
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.switches import MemorySwitches
from functions.twins.triage import MemoryNodeStates, MemoryTelemetry
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore
from policies.coordination.snapshot import Change
from policies.loader import load_text
from policies.model import Policy
from simulator.in_force import Revisions
from simulator.replay import Question
from tests.tools.envelopes import NOW
from tests.tools.replays import documents, head, history, incidents, put_history, revision

Record = Callable[..., int]


@pytest.fixture(scope="module")
def past() -> list[Incident]:
    """What two policies, each of its kind, made of some hours."""
    happened = [each for document in documents() for each in revision(head(document), NOW - timedelta(hours=1))]
    return incidents(history(), Question(Revisions.of(happened)))


@pytest.fixture
def archive(tmp_path: Path, past: list[Incident]) -> Path:
    happened = [each for document in documents() for each in revision(head(document), NOW - timedelta(hours=1))]
    return put_history(tmp_path / "archive", happened, past)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "fell-off-the-bus.yaml"
    path.write_text(f"# ours\n{yaml.safe_dump(documents()[0])}# the end\n")
    return path


def of(past: list[Incident], policy: str) -> Incident:
    return next(each for each in past if each.policy.name == policy)


def record(*words: str | Path) -> int:
    return main(["policy", "record", *map(str, words)])


def nobody() -> Account:
    raise AssertionError("the archive has all that is asked for")


def test_an_archive_is_enough(archive: Path, past: list[Incident], capsys: pytest.CaptureFixture[str]) -> None:
    incident = of(past, "contained")
    assert record(incident.id[:16], "--events", archive, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["incident"], told["policy"], told["from"]) == (incident.id, "contained", "archive")
    assert (told["passes"], told["as_it_was"], told["written"]) == (True, True, None)
    assert [event["attributes"]["xid"] for event in told["example"]["events"][:2]] == [94, 94]
    text = json.dumps(told["example"])
    assert incident.node.instance_id not in text
    assert "train/llm" not in text


def test_it_is_appended_to_its_policy_once_and_passes_there(
    archive: Path, past: list[Incident], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (of(past, "fell-off-the-bus").id, "--events", archive, "--write", file, "--says", "a GPU fell off the bus")
    assert record(*words) == 0
    assert f"written to {file}" in capsys.readouterr().err
    text = file.read_text()
    assert text.startswith("# ours\n")
    policy = load_text(text)
    assert isinstance(policy, Policy), "its examples pass"
    assert [each.says for each in policy.examples] == ["a GPU fell off the bus"]
    assert record(*words) == 0
    said = capsys.readouterr().err
    assert f"already there: the example 'a GPU fell off the bus' tells the same events ({file}:" in said
    assert "To change its end" not in said
    assert file.read_text() == text
    assert [each.name for each in file.parent.iterdir() if each.suffix == ".part"] == []
    assert main(["policy", "test", str(file)]) == 0


def test_a_file_that_has_no_room_for_another_example_stays_as_it_is(
    archive: Path, past: list[Incident], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = [{"says": f"nothing {at}", "events": [{"kind": "gpu.held"}], "findings": 0} for at in range(20)]
    file.write_text(yaml.safe_dump({**documents()[0], "examples": others}))
    before = file.read_bytes()
    assert isinstance(load_text(before), Policy)
    assert record(of(past, "fell-off-the-bus").id, "--events", archive, "--write", file) == 1
    said = capsys.readouterr().err
    assert ("would be no good policy: examples" in said, "Remove an example first" in said) == (True, True)
    assert file.read_bytes() == before


def test_what_should_not_have_fired_is_written_and_fails_until_the_policy_is_mended(
    archive: Path, past: list[Incident], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert record(of(past, "fell-off-the-bus").id, "--events", archive, "--write", file, "--findings", "0") == 0
    assert "fails until the policy is mended" in capsys.readouterr().err
    assert main(["policy", "test", str(file)]) == 1


def test_the_same_events_with_another_end_leave_the_file_good_and_say_what_to_change(
    archive: Path, past: list[Incident], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a newcomer does who follows the page line by line."""
    words = (of(past, "fell-off-the-bus").id, "--events", archive, "--write", file)
    assert record(*words) == 0
    text = file.read_text()
    capsys.readouterr()
    assert record(*words, "--findings", "0", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["written"], told["there_already"]["findings"]) == (None, 4)
    assert text.splitlines()[told["there_already"]["line"] - 1].strip() == "findings: 4"
    assert record(*words, "--findings", "0") == 1
    assert "it says findings: 4. To change its end, write findings: 0 in line " in capsys.readouterr().err
    assert file.read_text() == text
    assert main(["policy", "test", str(file)]) == 0


def test_an_id_that_the_archive_does_not_have_asks_no_account(
    archive: Path, past: list[Incident], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.record.running.connect", lambda *_: nobody())
    assert record("ffff", "--events", archive) == 1
    said = capsys.readouterr().err
    assert f"days of {archive}: 'ffff'. Its newest are " in said
    assert any(each.id[:12] in said for each in past)


def test_an_edited_policy_that_does_not_find_it_any_more_gets_nothing_written(
    archive: Path, past: list[Incident], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {**documents()[0], "count": {"at_least": 5, "within": "10m"}}
    file.write_text(yaml.safe_dump(document))
    before = file.read_bytes()
    assert record(of(past, "fell-off-the-bus").id, "--events", archive, "--write", file) == 1
    said = capsys.readouterr().err
    assert "0 findings of fell-off-the-bus came out; 4 findings in the incident." in said
    assert "gpu.xid: waits" in said
    assert "nothing was written" in said
    assert file.read_bytes() == before


def test_a_policy_that_missed_it_is_tried_with_it(
    archive: Path, past: list[Incident], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every event of an incident may be asked of another policy, of a folder."""
    missed = {**documents()[0], "name": "missed", "when": 'event.kind == "gpu.xid" && event.attributes.xid == 95'}
    file.write_text(yaml.safe_dump(missed))
    words = (of(past, "fell-off-the-bus").id, "--events", archive, "--policies", file.parent, "--policy", "missed")
    assert record(*words) == 1
    assert "asks about nothing" in capsys.readouterr().err
    assert record(*words, "--all", "--findings", "1") == 0
    assert "fails until" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ffff",), "no such incident in the last"),
        (("{id}", "--policy", "nobody"), "there is no policy 'nobody'"),
        (("{id}", "--write", "{file}", "--policy", "contained"), "is fell-off-the-bus, not contained"),
        (("{id}", "--policies", "{folder}"), "no policy to try"),
    ],
)
def test_what_is_not_there_is_told(
    words: tuple[str, ...],
    said: str,
    archive: Path,
    past: list[Incident],
    file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("console.record.running.connect", lambda *_: account(past))
    asked = [word.format(id=past[0].id, file=file, folder=archive) for word in words]
    assert record(*asked, "--events", archive) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--policies", "{file}.not"), "is not there"),
        (("--write", "{folder}"), "is a folder"),
        (("--write", "{file}.not"), "is not there"),
    ],
)
def test_a_file_that_cannot_be_meant_is_asked_wrongly(
    words: tuple[str, ...],
    said: str,
    archive: Path,
    past: list[Incident],
    file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = [word.format(file=file, folder=archive) for word in words]
    assert record(past[0].id, *asked, "--events", archive) == 2
    assert said in capsys.readouterr().err


def account(past: list[Incident]) -> Account:
    store, policies = MemoryStore(), MemoryPolicies()
    for each in past:
        store.write(Change(None, each))
    for document in documents():
        policies.put_live(document)
        Guard(policies, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(document["name"])
    switches = MemorySwitches(policies)
    clusters = [past[0].cluster]
    return Account(
        clusters, MemoryIncidents(store), policies, switches, MemoryNodeStates(), store, MemoryFacts(), lambda: NOW
    )


def test_a_stack_gives_the_incident_its_notes_and_the_policy_in_force(
    past: list[Incident], capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    args: Any = parser.parse_args(["record", of(past, "fell-off-the-bus").id[:20]])
    assert perform(args, Sources(None, lambda: account(past), days=14)) == 0
    printed = capsys.readouterr()
    assert "of the incident's own notes" in printed.err
    (example,) = yaml.safe_load(printed.out)
    assert (example["findings"], example["events"][0]["attributes"]["xid"]) == (4, 79)
