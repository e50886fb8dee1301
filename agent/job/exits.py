"""Watches the processes that train, and notices which of them ended since the last look.

Where nobody may listen how processes end, one that is gone has no status. Those that ended while the agent was away are
known by the beat files that they left. It must not know which end is a fault, nor how ends are heard.
"""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from agent.job.ends import End, judge_ends
from agent.job.exit_listener import Ended, ListeningError
from agent.job.matching import Matched
from agent.job.table import ProcessTable
from agent.job.trainer import Trainer
from agent.polls.reading import Instant, Memory, Reading
from agent.proc import ProcessStat, read_stat
from agent.processes import ProcessTells

log = logging.getLogger(__name__)

_MOST_HEARD = 8192
_HEARD_SECONDS = 60.0
Json = dict[str, Any]


class Exits(Protocol):
    """Where ends of processes are heard."""

    def drain(self) -> list[Ended]:
        """Return who ended since the last call."""
        ...


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
