"""What comes due on the virtual clock: asks of rehearsed executions, in the order of time, then of who came first.

It must not know what an ask means, nor let time pass.
"""

import heapq
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from policies.contract.decisions import AskMessage


class Due(NamedTuple):
    """An ask and when it is made. ``number`` tells those of one moment apart."""

    at: datetime
    number: int
    ask: AskMessage


class Agenda:
    """Asks that are to be made. ``number`` is how many there ever were."""

    def __init__(self) -> None:
        """Start with none."""
        self._heap: list[Due] = []
        self.number = 0

    def add(self, at: datetime, ask: AskMessage) -> None:
        """Have *ask* made at *at*."""
        self.number += 1
        heapq.heappush(self._heap, Due(at, self.number, ask))

    def restore(self, due: Due) -> None:
        """Take one back that was kept."""
        self.number = max(self.number, due.number)
        heapq.heappush(self._heap, due)

    @property
    def next_at(self) -> datetime | None:
        """When the next one is due, None when there is none."""
        return self._heap[0].at if self._heap else None

    def pop(self) -> Due:
        """Return the next one, which is then no more to be made."""
        return heapq.heappop(self._heap)

    def __iter__(self) -> Iterator[Due]:
        """Return all of them, in their order."""
        return iter(sorted(self._heap, key=lambda due: due[:2]))
