"""Which process of this node wrote a beat file.

A process in a container writes the pid that it sees itself; /proc tells each process's pid in its own namespace. A file
speaks for a process only if its owner runs that process (or root does the writing), the namespaces agree, and the
process is older than its last beat: a pid that was given anew speaks for nobody. It must not know what beats say of
training.
"""

from dataclasses import dataclass
from pathlib import Path

from agent.job.beat import Beat
from agent.job.beat_files import BeatFile
from agent.proc import ProcessStat, pid_namespace, pids_of, read_stat, read_status

_SLACK_SECONDS = 1.0  # a process's start is told in ticks of 10 ms, and a clock in a container may be shifted a little
_LOOK_ALL_AGAIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Matched:
    """A beat file and its process, which is None when it is gone."""

    name: str
    beat: Beat
    process: ProcessStat | None


class Matcher:
    """Remembers who wrote which file, and the inner pids of the processes that it once looked at."""

    def __init__(self, proc: Path) -> None:
        """Look at the processes under *proc*."""
        self._proc = proc
        self._known: dict[str, tuple[str, int, float]] = {}  # file -> run, pid, start
        self._inner: dict[int, int] = {}  # pid -> its pid in its own namespace
        self._own: int | None = None
        self._looked_at = float("-inf")

    def match(self, files: list[BeatFile], ticks: float) -> list[Matched]:
        """Return *files* with their processes, at *ticks* seconds since boot."""
        self._own = self._own or pid_namespace(self._proc, 1) or pid_namespace(self._proc, "self")
        self._known = {one.name: self._known[one.name] for one in files if one.name in self._known}
        unknown = [one for one in files if self._remembered(one) is None and self._is_foreign(one.beat)]
        if unknown:
            self._look(ticks)
        return [Matched(one.name, one.beat, self._remembered(one) or self._find(one)) for one in files]

    def _remembered(self, file: BeatFile) -> ProcessStat | None:
        run, pid, started = self._known.get(file.name, ("", 0, 0.0))
        if not pid or run != _run(file.beat):
            return None
        stat = read_stat(self._proc, pid)
        return stat if stat and stat.started == started else None

    def _is_foreign(self, beat: Beat) -> bool:
        return beat.pid_namespace is not None and self._own is not None and beat.pid_namespace != self._own

    def _find(self, file: BeatFile) -> ProcessStat | None:
        if self._is_foreign(file.beat):
            candidates = [pid for pid, inner in self._inner.items() if inner == file.beat.pid]
        else:
            candidates = [file.beat.pid]
        found = [stat for pid in candidates if (stat := self._fits(pid, file))]
        if len(found) != 1:
            return None
        self._known[file.name] = (_run(file.beat), found[0].pid, found[0].started)
        return found[0]

    def _fits(self, pid: int, file: BeatFile) -> ProcessStat | None:
        stat, status = read_stat(self._proc, pid), read_status(self._proc, pid)
        if stat is None or not status.pids or status.pids[-1] != file.beat.pid:
            return None
        if file.owner not in (0, status.uid):
            return None
        if file.beat.at and stat.started > file.beat.at / 1e9 + _SLACK_SECONDS:
            return None
        namespace = pid_namespace(self._proc, pid)
        agree = namespace is None or file.beat.pid_namespace in (None, namespace)
        return stat if agree else None

    def _look(self, ticks: float) -> None:
        """Learn the inner pids of new processes; of all again after a while, since pids are given anew."""
        if ticks - self._looked_at >= _LOOK_ALL_AGAIN_SECONDS:
            self._inner, self._looked_at = {}, ticks
        there = pids_of(self._proc)
        self._inner = {pid: inner for pid, inner in self._inner.items() if pid in there}
        for pid in there - self._inner.keys():
            pids = read_status(self._proc, pid).pids
            self._inner[pid] = pids[-1] if len(pids) > 1 else 0


def _run(beat: Beat) -> str:
    return f"{beat.pid}:{beat.pid_namespace}:{beat.started_at}"
