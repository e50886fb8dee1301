"""Occurrences that last: a measured condition is told at its onset and again while it holds, and stays one occurrence.

Decides which event belongs to an occurrence that was told before, and where that one began. An agent names the
occurrence by the id of the event that told it first. A name that is no id (``bus:0000:4b:00``) tells companions of
one moment, which time joins: the next error of the same part has the same name. It must not count.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from policies.contract.events import FaultEvent
from policies.contract.identifiers import stable_id

# The rarest repeats are those of EC2's scheduled events, every six hours (agent/host/notices): one may be lost.
KEPT_MS = 13 * 3_600_000
MOST_LASTING = 16  # of one component: eight GPUs' worth where a policy counts for the whole node
SLACK_MS = 5000  # a wall clock that was set since the onset moves what a repeat says of it; twice a step of correction
LONGEST_NAME = 64
_EVENT_ID = re.compile(r"[0-9a-f]{32}")


class Lasting(NamedTuple):
    """One of them (ms): ``first`` and ``last`` repeat, ``since`` when it holds, ``anchor`` its forgotten start."""

    name: str
    first: int
    last: int
    since: int
    distinct: str = ""
    anchor: int = 0

    def merged(self, other: "Lasting") -> "Lasting":
        """Return both as one; the order does not matter."""
        first, last, since = min(self.first, other.first), max(self.last, other.last), min(self.since, other.since)
        return Lasting(self.name, first, last, since, min(self.distinct, other.distinct), self.anchor or other.anchor)


def told_before(event: FaultEvent) -> str | None:
    """Return the name of the occurrence that *event* repeats, None when it is one by itself."""
    name = event.attributes.get("occurrence")
    if name is None:
        return None
    text = str(name)
    if event.attributes.get("ongoing") is not True and (text == event.id or not _EVENT_ID.fullmatch(text)):
        return None
    return text if len(text) <= LONGEST_NAME else stable_id(text)


def beginning(one: Lasting, plain: Sequence[tuple[int, str]]) -> int | None:
    """Return when the event that told *one* first happened, by (moment, event id) of what is counted; None: not there.

    Where others of the same seconds stand for it, its own id is not kept: then it is what was counted since it holds.
    """
    by_name = (moment for moment, event_id in plain if event_id == one.name)
    by_time = (moment for moment, _event_id in plain if one.since - SLACK_MS <= moment <= one.first)
    return next(by_name, None) or next(by_time, None)


def bounded(known: Mapping[str, Lasting], newest: int, most: int = MOST_LASTING) -> dict[str, Lasting]:
    """Return those that may still be repeated, the last repeated if there are more than *most*."""
    fresh: Iterable[Lasting] = (one for one in known.values() if one.last >= newest - KEPT_MS)
    kept = sorted(fresh, key=lambda one: (one.last, one.name))[-most:]
    return {one.name: one for one in sorted(kept)}
