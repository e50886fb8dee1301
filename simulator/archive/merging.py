"""Many objects as one sequence in order, each line once: repeats stand beside each other.

Decides when an object is opened: not before its first line is due, so that memory holds only what overlaps in time. It
must not know what is in a line but its order.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Protocol, TypeVar

from policies.contract.archive import Order


class Ordered(Protocol):
    """What has its place in the archive."""

    @property
    def order(self) -> Order:
        """Where it stands; a repeat has the same."""
        ...


_Entry = TypeVar("_Entry", bound=Ordered)
Source = tuple[datetime, Callable[[], Iterator[_Entry]]]


def merge(
    sources: Iterable[Source[_Entry]], better: Callable[[_Entry, _Entry], _Entry], repeated: Callable[[], None]
) -> Iterator[_Entry]:
    """Yield the entries of *sources* in order. Of two that are the same *better* says which; *repeated* hears of it.

    A source is the moment before which it has nothing, and how it is opened; they come by that moment. In each the
    entries are in order.
    """
    heap: list[tuple[Order, int, _Entry, Iterator[_Entry]]] = []
    waiting = enumerate(sources)
    following = next(waiting, None)
    held: _Entry | None = None
    while heap or following:
        while following and (not heap or following[1][0] <= heap[0][0][0]):
            number, (_first, opened) = following
            _push(heap, number, opened())
            following = next(waiting, None)
        if not heap:
            continue
        order, number, entry, entries = heap[0]
        after = next(entries, None)
        if after is None:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, (after.order, number, after, entries))
        if held is None:
            held = entry
        elif held.order == order:
            repeated()
            held = better(held, entry)
        else:
            yield held
            held = entry
    if held is not None:
        yield held


def _push(heap: list[tuple[Order, int, _Entry, Iterator[_Entry]]], number: int, entries: Iterator[_Entry]) -> None:
    first = next(entries, None)
    if first is not None:
        heapq.heappush(heap, (first.order, number, first, entries))
