"""The same story on a terminal, in a log and for a program."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from local.demo.display import JsonTeller, PlainTeller, Teller, teller
from local.demo.holding import Held
from local.demo.live import LiveTeller
from local.demo.report import STAGES, Report, StageReached
from local.fleet.fleet import Fault

AT = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)
FAULT = Fault("i-old", "ip-10-0-0-1.ec2.internal", 3, 79, AT)
CHOSEN = StageReached("checkpoint_chosen", AT, 4.25, "step 40; step 60 refused: [no] .metadata")
REPORT = Report(
    (CHOSEN,), "xid-79", "a" * 32, "i-old", "i-new", 40, ({"step": 60, "reason": "torn"},), 40, 41, 2, 3, 0, 0, 0.5
)


def tell(told: Teller) -> None:
    told.phase("deploying Relight")
    told.broke(FAULT)
    told.stage(CHOSEN)
    told.stage(StageReached("settled", AT, 1.0))
    told.end(REPORT, 31.5)
    told.close()


def test_a_log_gets_one_line_for_each_thing() -> None:
    out = io.StringIO()
    tell(PlainTeller(out))
    text = out.getvalue()
    assert "GPU 3 of ip-10-0-0-1.ec2.internal (i-old) fell off the bus: Xid 79" in text
    assert "+4.25 s  checkpoint_chosen  step 40; step 60 refused: [no] .metadata" in text
    assert "refused: 60 (torn)" in text
    assert "3 sent, 0 lost" in text


def test_a_fault_without_an_xid_is_told_in_its_own_words() -> None:
    out = io.StringIO()
    hung = Fault("i-1", "n1", None, None, AT, "a rank hangs")
    PlainTeller(out).broke(hung)
    JsonTeller(out).broke(hung)
    plain, line = out.getvalue().splitlines()
    assert "n1 (i-1): a rank hangs" in plain
    assert json.loads(line) == {
        "type": "fault",
        "instance": "i-1",
        "node": "n1",
        "what": "a rank hangs",
        "at": "2026-01-31T12:00:00.000000Z",
    }


def test_a_program_gets_json_lines() -> None:
    out = io.StringIO()
    tell(JsonTeller(out))
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["type"] for line in lines] == ["phase", "fault", "stage", "stage", "report"]
    assert lines[2]["seconds"] == 4.25
    assert [line["at"] for line in lines[1:3]] == [lines[4]["stages"][0]["at"]] * 2, "a moment has one form"
    assert lines[4]["checkpoint"] == {"chosen_step": 40, "refused": [{"step": 60, "reason": "torn"}]}


def test_a_terminal_shows_every_stage_and_takes_no_text_for_markup() -> None:
    out = io.StringIO()
    tell(LiveTeller(out, STAGES))
    text = out.getvalue()
    assert "checkpoint chosen" in text
    assert "node verified" in text
    assert "[no] .metadata" in text
    assert "the run goes on" in text


def test_a_terminal_shows_things_in_the_order_in_which_they_happened() -> None:
    out = io.StringIO()
    tell(LiveTeller(out, STAGES))
    text = out.getvalue()
    told = [
        text.rindex(words) for words in ("✓ deploying", "✗ GPU 3", "checkpoint chosen", "settled", "the run goes on")
    ]
    assert told == sorted(told)


def test_what_a_terminal_redraws_never_grows_beyond_the_stages_to_come() -> None:
    told = LiveTeller(io.StringIO(), STAGES)
    told.broke(FAULT)
    told.stage(StageReached("seen", AT, 0.0, "a line that is far too long " * 20))
    told.stage(StageReached("settled", AT, 0.5))
    console = Console(file=io.StringIO(), width=80)
    assert len(console.render_lines(told._draw(), pad=False)) == len(STAGES) - 1
    told.close()


def test_what_never_came_stands_there_when_all_is_over() -> None:
    out = io.StringIO()
    told = LiveTeller(out, STAGES)
    told.broke(FAULT)
    told.stage(StageReached("seen", AT, 0.0))
    told.close()
    assert "○  confirmed" in out.getvalue()
    out = io.StringIO()
    told = LiveTeller(out, STAGES)
    told.phase("deploying Relight")
    told.close()
    assert "○ deploying Relight" in out.getvalue()
    assert "✓" not in out.getvalue()


@pytest.mark.parametrize("kind", [PlainTeller, lambda out: LiveTeller(out, STAGES)])
def test_a_failure_says_what_is_missing_where_the_logs_are_and_what_next(kind: type[PlainTeller]) -> None:
    out = io.StringIO()
    told = kind(out)
    told.failed(["nobody was alerted"], Path("logs-here"))
    told.close()
    text = out.getvalue()
    assert "nobody was alerted" in text
    assert "logs-here" in text
    assert "Next:" in text


HELD = Held(Path("/tmp/a b/" + "long/" * 30 + "env"), Path("/tmp/a b/break"), 60)


@pytest.mark.parametrize("kind", [PlainTeller, lambda out: LiveTeller(out, STAGES)])
def test_a_world_that_is_held_open_is_told_with_lines_that_can_be_copied(
    kind: type[PlainTeller], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = io.StringIO()
    told = kind(out)
    told.held(HELD)
    told.close()
    lines = out.getvalue().splitlines()
    assert f"    {HELD.source}" in lines
    assert any(line.startswith("    echo 79 > '/tmp/a b/break' ") for line in lines)
    assert any("for 60 minutes" in line for line in lines)


def test_a_program_learns_where_the_file_lies() -> None:
    out = io.StringIO()
    JsonTeller(out).held(HELD)
    line = json.loads(out.getvalue())
    assert (line["type"], line["env_file"], line["minutes"]) == ("held", str(HELD.env_file), 60)
    assert line["source"] == f". '{HELD.env_file}'"


def test_without_a_terminal_there_are_plain_lines_or_json() -> None:
    assert isinstance(teller(io.StringIO()), PlainTeller)
    assert isinstance(teller(io.StringIO(), as_json=True), JsonTeller)
