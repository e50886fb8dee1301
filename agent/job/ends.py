"""Who of a run was the first to die, and who only followed.

A run ends well when a process leaves with 0 or says goodbye; that is no fault and not told. One dies and the others
follow: their launcher or scheduler ends them by SIGTERM, or they give up waiting. So the first to die of a run is
named, and those of the same start that follow within ten minutes are symptoms of it. SIGTERM alone is somebody's wish:
told as a symptom of something elsewhere, and nobody's first. An end that nobody heard is told without a code. Pure. It
must not know how ends are noticed.
"""

import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agent.job.trainer import Trainer
from agent.parsers.sighting import Sighting, known
from agent.polls.reading import Happened
from policies.contract.events import Component
from policies.contract.vocabulary import ComponentType, Kind, Severity

FOLLOWS_SECONDS = 600.0
_MOST_JOBS = 64
_SHELL_SIGNAL = 128  # a shell, and many a launcher, leaves with 128 and the signal's number
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class End:
    """One trainer's end: wait(2)'s ``status``, None where nobody knows; ``order`` among others."""

    trainer: Trainer
    status: int | None
    order: int = 0

    @property
    def signal(self) -> int:
        """The signal that ended it, as itself or as a shell tells it; 0: none."""
        if self.status is None:
            return 0
        if os.WIFSIGNALED(self.status):
            return os.WTERMSIG(self.status)
        code = os.WEXITSTATUS(self.status)
        return code - _SHELL_SIGNAL if code - _SHELL_SIGNAL in (signal.SIGTERM, signal.SIGKILL) else 0

    @property
    def is_clean(self) -> bool:
        """Whether it ended as it wanted to."""
        return self.status == 0 or (self.status is None and self.trainer.has_ended)

    @property
    def is_wish(self) -> bool:
        """Whether somebody asked it to end."""
        return self.signal in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def judge_ends(ends: Iterable[End], firsts: Json, ticks: float) -> list[Happened]:
    """Return the ends that are faults; *firsts* (JSON: job -> who died first, and when) is renewed."""
    for job in [job for job, first in firsts.items() if ticks - first["at"] > FOLLOWS_SECONDS]:
        del firsts[job]
    bad = [end for end in ends if not end.is_clean]
    return [
        _judge(end, firsts, ticks) for end in sorted(bad, key=lambda end: (end.is_wish, end.order, end.trainer.pid))
    ]


def _judge(end: End, firsts: Json, ticks: float) -> Happened:
    one = end.trainer
    job, first = one.job_id, firsts.get(one.job_id)
    if first is not None and one.process.started > first["at"]:
        first = None  # it was started after that death: the run was on again, and this is another
    if first is None and not end.is_wish and (job in firsts or len(firsts) < _MOST_JOBS):
        firsts[job] = {"pid": one.pid, "rank": one.rank, "at": ticks, "process": one.process.name}
    attributes = known(
        pid=one.pid,
        process=one.process.name,
        rank=one.rank,
        step=one.step,
        exit_code=os.WEXITSTATUS(end.status) if end.status is not None and os.WIFEXITED(end.status) else None,
        signal=_signal_name(end.signal) if end.signal else None,
        phase=one.beats.beat.phase.name.lower() if one.beats else None,
        first_pid=first["pid"] if first else None,
        first_rank=first["rank"] if first else None,
        symptom=True if first or end.is_wish else None,
    )
    is_sure = end.status is not None and not one.has_ended  # many a library crashes when all is done
    severity = Severity.ERROR if is_sure and not first and not end.is_wish else Severity.WARNING
    sighting = Sighting(
        Kind.PROCESS_EXITED,
        severity,
        Component(type=ComponentType.PROCESS, index=one.pid),
        attributes,
    )
    return Happened(sighting, _words(end, first))


def _words(end: End, first: Json | None) -> str:
    one = end.trainer
    who = f"rank {one.rank}" if one.rank is not None else f"process {one.pid}"
    if end.signal:
        how = f"was ended by {_signal_name(end.signal)}"
    elif end.status is None:
        how = "is gone without a word; nobody here may hear how processes end"
    else:
        how = f"left with code {os.WEXITSTATUS(end.status)}"
    if first is None:
        return f"{who} ({one.process.name}) {how}"
    before = f"rank {first['rank']}" if first["rank"] is not None else f"process {first['pid']}"
    return f"{who} ({one.process.name}) {how}, after {before}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
