"""Processes that train and end: how, who was the first, and who only followed.

A run ends well when a process leaves with 0 or says goodbye; that is no fault and not told. One dies and the others
follow: their launcher or scheduler ends them by SIGTERM, or they give up waiting. So the first to die of a run is
named, and those that follow within ten minutes are symptoms of it. SIGTERM alone is somebody's wish: told as a symptom
of something elsewhere, and nobody's first. Where nobody may listen how processes end, a process without a word is told
without a code. Decides who was first and what is a fault. It must not know how ends are heard.
"""

import logging
import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agent.job.exit_listener import Ended, ListeningError
from agent.job.matching import Matched
from agent.job.table import ProcessTable
from agent.job.trainer import Trainer
from agent.parsers.sighting import Sighting
from agent.polls.reading import Happened, Instant, Memory, Reading
from agent.proc import ProcessStat, read_stat
from agent.processes import ProcessTells
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Severity

log = logging.getLogger(__name__)

FOLLOWS_SECONDS = 600.0
_MOST_JOBS, _MOST_HEARD = 64, 8192
_HEARD_SECONDS = 60.0
_SHELL_SIGNAL = 128  # a shell, and many a launcher, leaves with 128 and the signal's number
Json = dict[str, Any]


class Exits(Protocol):
    """Where ends of processes are heard."""

    def drain(self) -> list[Ended]:
        """Return who ended since the last call."""
        ...


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
    if first is None and not end.is_wish and len(firsts) < _MOST_JOBS:
        firsts[job] = {"pid": one.pid, "rank": one.rank, "at": ticks, "process": one.process.name}
    attributes: dict[str, Scalar | None] = {
        "pid": one.pid,
        "process": one.process.name,
        "rank": one.rank,
        "step": one.step,
        "exit_code": os.WEXITSTATUS(end.status) if end.status is not None and os.WIFEXITED(end.status) else None,
        "signal": _signal_name(end.signal) if end.signal else None,
        "phase": one.beats.beat.phase.name.lower() if one.beats else None,
        "first_pid": first["pid"] if first else None,
        "first_rank": first["rank"] if first else None,
        "symptom": True if first or end.is_wish else None,
    }
    is_sure = end.status is not None and not one.has_ended  # many a library crashes when all is done
    severity = Severity.ERROR if is_sure and not first and not end.is_wish else Severity.WARNING
    sighting = Sighting(
        Kind.PROCESS_EXITED,
        severity,
        Component(type=ComponentType.PROCESS, index=one.pid),
        {name: value for name, value in attributes.items() if value is not None},
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


class ExitPoll:
    """Watches who trains, and tells when one is gone; of those that ended while the agent was away, who left a beat."""

    def __init__(self, table: ProcessTable, proc: Path, listen: Callable[[], Exits]) -> None:
        """*listen* begins to hear ends, and raises ListeningError where nobody may."""
        self._table, self._proc, self._listen = table, proc, listen
        self._exits: Exits | None = None
        self._tried = False
        self._heard: dict[int, tuple[Ended, float]] = {}
        self._watched: dict[int, Trainer] | None = None

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """Return which processes ended badly since the last look."""
        self._begin()
        trainers = {one.pid: one for one in self._table.now() if one.is_training}
        self._hear(now.ticks)  # after the look: the kernel tells of an end before it shows it
        watched = remembered(memory.get("watched", {}), self._files()) if self._watched is None else self._watched
        ends = [
            self._end(trainers.get(one.pid), one) for one in watched.values() if _is_gone(trainers.get(one.pid), one)
        ]
        self._watched = {pid: one for pid, one in trainers.items() if one.gone_at is None}
        memory["watched"] = {str(pid): _note(one) for pid, one in self._watched.items() if one.beats}
        return judge_ends(ends, memory.setdefault("firsts", {}), now.ticks)

    def _begin(self) -> None:
        if not self._tried:
            self._tried = True
            try:
                self._exits = self._listen()
            except ListeningError as error:
                log.info("how processes end is not heard", extra={"reason": str(error)})

    def _files(self) -> dict[str, Matched]:
        return {one.name: one for one in self._table.beating()}

    def _hear(self, ticks: float) -> None:
        for ended in self._exits.drain() if self._exits else ():
            if len(self._heard) >= _MOST_HEARD:
                del self._heard[next(iter(self._heard))]
            self._heard[ended.pid] = ended, ticks
        for pid in [pid for pid, (_, heard) in self._heard.items() if ticks - heard > _HEARD_SECONDS]:
            del self._heard[pid]

    def _end(self, now: Trainer | None, before: Trainer) -> End:
        trainer = now if now and now.process.started == before.process.started else before
        ended, _ = self._heard.pop(trainer.pid, (None, 0.0))
        return End(trainer, ended.status, ended.at) if ended else End(trainer, self._of_zombie(trainer))

    def _of_zombie(self, trainer: Trainer) -> int | None:
        """Return how one ended that nobody waited for yet; who may not know is told 0, which then means nothing."""
        stat = read_stat(self._proc, trainer.pid)
        is_it = stat is not None and stat.started == trainer.process.started
        return stat.wait_status if stat and is_it and (stat.wait_status or os.geteuid() == 0) else None


def _is_gone(now: Trainer | None, before: Trainer) -> bool:
    return now is None or now.gone_at is not None or now.process.started != before.process.started


def _note(one: Trainer) -> Json:
    name = one.beats.name if one.beats else ""
    return {"name": one.process.name, "started": one.process.started, "file": name}


def remembered(notes: Json, files: Mapping[str, Matched]) -> dict[int, Trainer]:
    """Return who trained when the agent last ran and whose beat file still lies there: who ended well took it along."""
    found = {}
    for pid, note in notes.items():
        file = files.get(note["file"])
        if file is not None:
            process = ProcessStat(int(pid), note["name"], "X", 0, 0, note["started"], 0.0, 0)
            found[int(pid)] = Trainer(process, ProcessTells(), beats=file)
    return found
