"""How the story is told: a growing table on a terminal, lines elsewhere, JSON lines for programs.

It must not know where the facts come from.
"""

import json
import shlex
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TextIO

from local.demo.holding import Held
from local.demo.report import STAGES, Report, StageReached
from local.fleet.fleet import Fault
from policies.contract.times import format_time

_OFF_THE_BUS = 79


class Teller(Protocol):
    """Who tells the story. Every method returns at once."""

    def phase(self, text: str) -> None:
        """Something begins that takes a while."""

    def broke(self, fault: Fault) -> None:
        """A GPU was broken."""

    def stage(self, stage: StageReached) -> None:
        """The incident went on."""

    def end(self, report: Report, seconds: float) -> None:
        """Everything happened."""

    def failed(self, problems: Sequence[str], logs: Path) -> None:
        """It did not."""

    def held(self, held: Held) -> None:
        """The world stays open."""

    def close(self) -> None:
        """Leave the terminal as it was."""


def broken(fault: Fault) -> str:
    """What was done to which node."""
    if fault.what:
        return f"{fault.node} ({fault.instance_id}): {fault.what}"
    how = "fell off the bus" if fault.xid == _OFF_THE_BUS else "failed"
    return f"GPU {fault.gpu} of {fault.node} ({fault.instance_id}) {how}: Xid {fault.xid}"


def summary(report: Report, seconds: float) -> list[tuple[str, str]]:
    """The last words of a story that went well: what, and what became of it."""
    refused = ", ".join(f"{one['step']} ({one['reason']})" for one in report.refused) or "none"
    return [
        ("policy", report.policy),
        ("instance", f"{report.old_instance} → {report.new_instance}" if report.new_instance else "none was replaced"),
        ("checkpoint", f"step {report.chosen_step}; refused: {refused}"),
        ("resumed", f"from step {report.resumed_step}, confirmed at step {report.confirmed_step}"),
        ("alerts", f"{report.alerts}"),
        ("events", f"{report.events_sent} sent, {report.events_lost} lost"),
        ("acts repeated", f"{report.acts_repeated}"),
        ("GPU-hours lost", f"{report.gpu_hours_lost:.3f}"),
        ("wall time", f"{seconds:.1f} s"),
    ]


def failure_lines(problems: Sequence[str], logs: Path) -> list[str]:
    """What is missing, where the logs lie and what to do next."""
    return [
        "The story did not end as it should:",
        *(f"  - {problem}" for problem in problems),
        f"The logs lie in {logs} (aws/server.log, aws/logs/, nodes/*/agent.log).",
        "Next: where time was short, `relight demo --deadline 600`.",
        "Else read the log of the function whose stage is the first one missing, then run `relight demo` again.",
    ]


def held_lines(held: Held) -> list[str]:
    """How a person practises on a world that stays open."""
    file = shlex.quote(str(held.break_file))
    return [
        f"The world stays open for {held.minutes} minutes, with its nodes, agents and run; Ctrl-C ends it. It is on",
        "the loopback of this machine: nothing done there reaches an account. In another terminal, for it alone:",
        f"    {held.source}",
        "Worth trying there:",
        "    relight policy list                             # what is in force",
        "    relight incident list --closed                  # what has just happened; then: relight incident show ID",
        "    relight policy pull --to practice               # to edit: `approval: true` lets a policy ask first",
        "    relight policy push practice --reason practice",
        "    relight policy history NAME                     # who, when, why; back with: relight policy rollback NAME",
        f"    echo 79 > {file}    # another GPU fails, with this Xid; then: relight incident list",
        "    relight incident deny ID --reason practice      # of one that asks first; or: relight incident approve ID",
        "    relight policy set-mode NAME shadow             # what would it do? Break something, then:",
        "    relight policy report",
        "    relight policy stop --reason practice           # the off switch; back with: relight policy start",
    ]


class JsonTeller:
    """One JSON object a line."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def _say(self, **fields: Any) -> None:  # noqa: ANN401 - JSON
        self._out.write(json.dumps(fields, default=_plain) + "\n")
        self._out.flush()

    def phase(self, text: str) -> None:
        self._say(type="phase", text=text)

    def broke(self, fault: Fault) -> None:
        what = {"what": fault.what} if fault.what else {"gpu": fault.gpu, "xid": fault.xid}
        self._say(type="fault", instance=fault.instance_id, node=fault.node, **what, at=fault.at)

    def stage(self, stage: StageReached) -> None:
        self._say(
            type="stage", name=stage.name, at=stage.at, seconds=round(max(0.0, stage.seconds), 3), detail=stage.detail
        )

    def end(self, report: Report, seconds: float) -> None:
        self._say(type="report", wall_seconds=round(seconds, 1), **report.to_json())

    def failed(self, problems: Sequence[str], logs: Path) -> None:
        self._say(type="failed", problems=list(problems), logs=str(logs))

    def held(self, held: Held) -> None:
        self._say(
            type="held",
            env_file=str(held.env_file),
            source=held.source,
            break_file=str(held.break_file),
            minutes=held.minutes,
        )

    def close(self) -> None:
        """Nothing is held."""


def _plain(value: object) -> str:
    """What JSON has no form for: a moment, told as in the report; else its text."""
    return format_time(value) if isinstance(value, datetime) else str(value)


class PlainTeller:
    """One line each, with the seconds since the start."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._start = time.monotonic()

    def _say(self, text: str) -> None:
        self._out.write(f"{time.monotonic() - self._start:6.1f} s  {text}\n")
        self._out.flush()

    def phase(self, text: str) -> None:
        self._say(text)

    def broke(self, fault: Fault) -> None:
        self._say(broken(fault))

    def stage(self, stage: StageReached) -> None:
        self._say(f"  +{max(0.0, stage.seconds):.2f} s  {stage.name:18} {stage.detail}".rstrip())

    def end(self, report: Report, seconds: float) -> None:
        self._out.write("\n" + "".join(f"{what:18}{told}\n" for what, told in summary(report, seconds)))

    def failed(self, problems: Sequence[str], logs: Path) -> None:
        self._out.write("\n" + "\n".join(failure_lines(problems, logs)) + "\n")

    def held(self, held: Held) -> None:
        self._out.write("\n" + "\n".join(held_lines(held)) + "\n")
        self._out.flush()

    def close(self) -> None:
        """Nothing is held."""


def teller(out: TextIO = sys.stdout, *, as_json: bool = False, stages: Sequence[str] = STAGES) -> Teller:
    """The right one for this output. *stages* are those to come."""
    if as_json:
        return JsonTeller(out)
    if not out.isatty():
        return PlainTeller(out)
    from local.demo.live import LiveTeller  # noqa: PLC0415 - rich is loaded for a terminal only

    return LiveTeller(out, stages)
