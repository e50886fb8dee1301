"""Who trains on this node, as of now: one look shared by everything that asks.

Decides how often the system is looked at, and how long one that is gone is remembered: the events of a crash are made
after it. An event takes what was seen last and never waits for a look. Safe for threads; never raises for what the
system says. It must not know faults.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent.job.beat_files import BeatFile, read_beats
from agent.job.devices import DeviceHolders, Gpu, gpus_of
from agent.job.matching import Matched, Matcher
from agent.job.trainer import Trainer
from agent.proc import live_threads, read_stat
from agent.processes import ProcessTells, read_process

REMEMBERED_SECONDS = 600.0
_FRESH_SECONDS, _STALE_SECONDS = 1.0, 10.0
_DEVICES_EVERY_SECONDS, _GPUS_EVERY_SECONDS = 5.0, 60.0
_MOST_TRAINERS = 1024


class ProcessTable:
    """The processes that train or hold a GPU."""

    def __init__(
        self,
        beats: Path,
        proc: Path,
        ticks: Callable[[], float],
        *,
        host_name: str = "",
        device: str = "/dev/nvidia",
    ) -> None:
        """Read the folder *beats* and *proc*; *ticks* is seconds since boot."""
        self._beats, self._proc, self._ticks, self._host_name = beats, proc, ticks, host_name
        self._lock = threading.Lock()
        self._matcher, self._devices = Matcher(proc), DeviceHolders(proc, device)
        self._held: Mapping[int, frozenset[int]] = {}
        self._held_at = self._gpus_at = self._seen_at = float("-inf")
        self._tells: dict[int, tuple[float, ProcessTells]] = {}  # pid -> start, what it tells
        self._matched: Sequence[Matched] = ()
        self._trainers: dict[int, Trainer] = {}
        self._gpus: Sequence[Gpu] = ()

    def beating(self, at_most_old: float = _FRESH_SECONDS) -> Sequence[Matched]:
        """Return the beat files and their processes, as they were at most so many seconds ago."""
        self._renew(at_most_old)
        return self._matched

    def now(self) -> Sequence[Trainer]:
        """Return who is here about now, and who was until lately."""
        self._renew(_FRESH_SECONDS)
        return tuple(self._trainers.values())

    def lately(self) -> Mapping[int, Trainer]:
        """Return the same by pid as it was seen last: for events, which do not wait."""
        if self._ticks() - self._seen_at > _STALE_SECONDS and self._lock.acquire(blocking=False):
            try:
                self._look(self._ticks())
            finally:
                self._lock.release()
        return self._trainers

    @property
    def gpus(self) -> Sequence[Gpu]:
        """The node's GPUs by address."""
        return self._gpus

    def _renew(self, at_most_old: float) -> None:
        with self._lock:
            now = self._ticks()
            if now - self._seen_at > at_most_old:
                self._look(now)

    def _look(self, now: float) -> None:
        files = read_beats(self._beats, [one.name for one in self._matched if one.process])
        matched = self._matcher.match(files, now)
        if now - self._held_at >= _DEVICES_EVERY_SECONDS:
            self._held, self._held_at = dict(self._devices.look(now)), now
        if now - self._gpus_at >= _GPUS_EVERY_SECONDS:
            self._gpus, self._gpus_at = gpus_of(self._proc), now
        self._trainers = self._merge(matched, files, now)  # made aside and put in place as one: readers take no lock
        self._matched, self._seen_at = matched, now

    def _merge(self, matched: Sequence[Matched], files: Sequence[BeatFile], now: float) -> dict[int, Trainer]:
        beating = {one.process.pid: one for one in matched if one.process}
        names = {one.name for one in files}
        pids = [*beating, *(pid for pid in self._held if pid not in beating), *self._trainers]
        found: dict[int, Trainer] = {}
        for pid in pids:
            if pid not in found and len(found) < _MOST_TRAINERS:
                one = self._trainer(pid, beating.get(pid), names, now)
                if one:
                    found[pid] = one
        self._tells = {pid: told for pid, told in self._tells.items() if pid in found}
        return found

    def _trainer(self, pid: int, beats: Matched | None, names: set[str], now: float) -> Trainer | None:
        before, stat = self._trainers.get(pid), read_stat(self._proc, pid)
        if stat is not None and not stat.is_alive and live_threads(self._proc, pid) == 0:
            stat = None  # a zombie holds nothing and trains no more
        took_away = bool(before and before.beats and not beats and before.beats.name not in names)
        if before and (stat is None or stat.started != before.process.started):
            if stat is None or not beats:
                return _gone(before, now, took_away=took_away)
            before = None  # the pid was given anew
        if stat is None:
            return None
        kept = beats or (before.beats if before else None)
        goodbye = took_away or bool(before and before.said_goodbye and not beats)
        gpus = self._held.get(pid, frozenset())
        return Trainer(stat, self._told(pid, stat.started), gpus, kept, goodbye) if kept or gpus else None

    def _told(self, pid: int, started: float) -> ProcessTells:
        before = self._tells.get(pid)
        if before and before[0] == started:
            return before[1]
        told = read_process(pid, self._proc, self._host_name)
        self._tells[pid] = (started, told)
        return told


def _gone(before: Trainer, now: float, *, took_away: bool) -> Trainer | None:
    if before.gone_at is None:
        return replace(before, gone_at=now, said_goodbye=before.said_goodbye or took_away)
    return before if now - before.gone_at < REMEMBERED_SECONDS else None
