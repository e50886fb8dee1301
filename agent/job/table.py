"""Who trains on this node, as of now: one look shared by everything that asks.

Decides how often the system is looked at: polls look anew, an event takes what was seen last unless that is old. Safe
for threads; never raises for what the system says. It must not know faults.
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.job.beat_files import read_beats
from agent.job.matching import Matched, Matcher

_FRESH_SECONDS = 1.0


class ProcessTable:
    """The beat files of a folder with their processes."""

    def __init__(self, beats: Path, proc: Path, ticks: Callable[[], float]) -> None:
        """Read *beats* and *proc*; *ticks* is seconds since boot."""
        self._beats, self._ticks = beats, ticks
        self._lock = threading.Lock()
        self._matcher = Matcher(proc)
        self._seen: Sequence[Matched] = ()
        self._seen_at: float | None = None

    def beating(self, at_most_old: float = _FRESH_SECONDS) -> Sequence[Matched]:
        """Return the beat files and their processes, as they were at most so many seconds ago."""
        with self._lock:
            now = self._ticks()
            if self._seen_at is None or now - self._seen_at > at_most_old:
                self._seen = self._matcher.match(read_beats(self._beats), now)
                self._seen_at = now
            return self._seen
