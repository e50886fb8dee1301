"""When nodes were last heard, written rarely: at most once a minute a node, many nodes in one write.

Decides which signs of life are worth a write. A warm worker remembers what it wrote; a cold one writes once more, which
is harmless. It must not know how buckets are packed.
"""

from collections.abc import Iterable
from datetime import timedelta

from functions.ports.triage import Heard, SeenWriter

INTERVAL = timedelta(seconds=60)  # the sweep's patience (functions/sweep/silence.py) counts on it
MOST_REMEMBERED = 50_000


class SeenBook:
    """What this worker has written lately."""

    def __init__(self, writer: SeenWriter, interval: timedelta = INTERVAL) -> None:
        """Write through *writer*, each node once in *interval* of real time."""
        self._writer = writer
        self._interval = interval
        self._written: dict[tuple[str, str], Heard] = {}

    def note(self, heard: Iterable[Heard]) -> None:
        """Write those that were not written within the interval, or booted since. Raises DependencyError."""
        newest: dict[tuple[str, str], Heard] = {}
        for one in heard:
            key = (one.cluster, one.instance_id)
            if key not in newest or one.at > newest[key].at:
                newest[key] = one
        due = {key: one for key, one in newest.items() if self._is_due(key, one)}
        if due:
            self._writer.write(due.values())
            self._remember(due)

    def _is_due(self, key: tuple[str, str], heard: Heard) -> bool:
        before = self._written.get(key)
        return before is None or heard.boot_id != before.boot_id or heard.at - before.at >= self._interval

    def _remember(self, due: dict[tuple[str, str], Heard]) -> None:
        if len(self._written) > MOST_REMEMBERED:
            self._written.clear()
        self._written.update(due)
