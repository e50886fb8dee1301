"""One rank's log that is open, and its turns.

Decides how much one file may take before the next has its turn. It must not know which files there are.
"""

from itertools import count
from pathlib import Path

from agent.follow.reader import LogItem
from agent.follow.tail import FileTail
from agent.follow.work import LogWork

_LOOKS_A_TURN = 8  # portions of 32 KiB


class Followed:
    """One file that is open."""

    def __init__(self, path: Path, tail: FileTail, work: LogWork) -> None:
        """Let *work* have what *tail* reads of *path*."""
        self._path = str(path)
        self.tail = tail
        self.work = work
        self.last_position: dict[str, object] | None = None

    def step(self) -> bool:
        """Handle what is new; tell whether there may be more."""
        for number in count():
            items = [self._named(item) for item in self.tail.look()]
            self.work.take(items)
            self.work.begin_at(self.tail.place())
            if not items or number == _LOOKS_A_TURN:
                return bool(items)
            self.last_position = items[-1].position
        return False

    def _named(self, item: LogItem) -> LogItem:
        """Two files have the same offsets, so a key names its file."""
        return item.keyed(f"{self._path}:{item.key}")
