"""Whatever the terminal's width: an id that a list prints stands on one line, so that it can be copied."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from console.incident.screen import Screen as Incidents
from console.node.screen import Screen as Nodes
from console.policy.editing import list_table
from console.policy.edits import Editor, live_item
from console.policy.history import tell_history
from console.rows import LEAST_TEXT, print_rows
from console.terminal import terminal
from policies.contract.commands.command import CommandStatus
from policies.contract.commands.operations import Operation
from policies.coordination.switches import SelfShadow
from policies.facts.maintenance import Maintenance
from tests.tools.commands import NODE
from tests.tools.editing import DOCUMENT, NAME, Desk, Person
from tests.tools.envelopes import NOW
from tests.unit.console.dlq import desk as dlq
from tests.unit.console.incident.desk import Desk as IncidentDesk
from tests.unit.console.node import test_command as node

INSTANCES = ("i-0123456789abcdef0", "i-0fedcba9876543210")
HOST = "ip-172-31-0-7.ec2.internal"
RUN = "training/llama-pretrain-70b-2"
INCIDENT = "4be1c2d3a9f04be1c2d3a9f04be1c2d3"
ARN = "arn:aws:sts::123456789012:assumed-role/OnCall/kim@example.com"
Ids = set[str]


def incidents(_folder: Path) -> Ids:
    desk = IncidentDesk()
    for instance in INSTANCES:
        desk.break_node(instance)
    desk.after(60)
    found = [desk.incident(instance) for instance in INSTANCES]
    why = f"the lease of its node is held by {INCIDENT}, which waits for a successor in us-east-1a"
    listed = [
        each.model_copy(update={"node": each.node.model_copy(update={"name": HOST}), "reason": why}) for each in found
    ]
    Incidents(as_json=False, now=desk.world.now).list(listed, closed=False)
    return {*(each.id[:12] for each in listed), *(f"({each})" for each in INSTANCES), HOST, INCIDENT}


def dead_letters(_folder: Path) -> Ids:
    desk = dlq.Desk()
    rejected = [dlq.reject(number << 100, b"{}", reason=f"reason {number}.") for number in (7, 8)]
    for each in rejected:
        desk.rejects.put([each])
    desk.run("list")
    return {each.id[:12] for each in rejected}


def commands(_folder: Path) -> Ids:
    desk = node.Desk(Operation.COLLECT_EVIDENCE, agent=node.does(CommandStatus.FAILED, reason=f"{RUN} is gone"))
    desk.run("run", "i-0a", "collect_evidence", "--by", ARN)
    desk.run("commands", "i-0a")
    return {ARN, RUN, *(each.command.id[:12] for each in desk.commands.all_of(NODE))}


def hands(_folder: Path) -> Ids:
    now = datetime(2026, 11, 30, tzinfo=UTC)
    word = Maintenance(until=now + timedelta(hours=2), since=now, by=ARN, why=f"new cables for {HOST} and its twin")
    Nodes(as_json=False, now=now).in_hand({"research-west-2": dict.fromkeys(INSTANCES, word)})
    return {*INSTANCES, ARN, HOST, "research-west-2"}


def policies(folder: Path) -> Ids:
    desk = _edited(folder)
    shadow = SelfShadow(policy=NAME, cluster="west", incident=INCIDENT, since=NOW, why=f"it did {RUN} twice")
    listed: Any = SimpleNamespace(all=lambda: {NAME: shadow})
    desk.table.self_shadows = listed  # type: ignore[attr-defined]  # of the table's adapter only
    list_table(desk.table, as_json=False)  # type: ignore[arg-type]  # a twin
    return {NAME, RUN}


def history(folder: Path) -> Ids:
    tell_history(_edited(folder).table, NAME, as_json=False)
    return {ARN, RUN}


def _edited(folder: Path) -> Desk:
    desk = Desk()
    kim = Person(desk, folder / "kim", DOCUMENT)
    kim.push()
    desk.look()
    why = f"the run {RUN} was stopped twice last night"
    edited = live_item({**DOCUMENT, "settle": "30s"}, Editor(ARN, NOW, why))
    desk.table.live_items[NAME] = dict(edited)
    desk.look()
    return desk


LISTS = (incidents, dead_letters, commands, hands, policies, history)


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("listed", LISTS, ids=lambda each: each.__name__)
def test_no_id_is_broken(
    listed: Callable[[Path], Ids],
    columns: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    ids = listed(tmp_path)
    shown = capsys.readouterr().out
    assert {each for each in ids if each not in shown} == set(), shown
    too_long = [line for line in shown.splitlines() if len(line.rstrip()) > columns]
    assert all(len(max(line.split(), key=len)) + 16 > columns for line in too_long), "only what has no room anywhere"


HEADINGS = ("id", "state", "why")


@pytest.mark.parametrize(("columns", "is_table"), [(38, False), (60, True)])
def test_a_block_each_where_a_table_has_no_room(
    columns: int, *, is_table: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    print_rows(
        terminal(), HEADINGS, [("4be1c2d3a9f0", "parked", "no step was reported " * 3), ("5", "", "")], text="why"
    )
    shown = capsys.readouterr().out
    assert shown.startswith("id ") is is_table
    if not is_table:
        first, state, *_why, last = shown.splitlines()
        assert (first, state, last) == ("4be1c2d3a9f0", "  state     parked", "5"), "what is empty is left out"


def test_a_pipe_gets_a_table_however_long_a_line_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    print_rows(terminal(), HEADINGS, [("1", "parked", "word " * 400)], text="why")
    assert len(capsys.readouterr().out.splitlines()) == 1 + 1
    assert LEAST_TEXT < 60
