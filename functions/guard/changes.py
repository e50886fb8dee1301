"""Reads the policies table's stream: which policies have to be looked at.

Decides what is an edit at all: a `live` item that changed, and what only the guard should write (`head`, `rev#n`, a
line of the listing), since a person may have. It must not judge by the images: by now the items may be others.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from functions.adapters.policy_items import LISTING, LISTING_PREFIX, REVISION_PREFIX
from functions.guard.writes import Write, write_of

LookAt = Callable[[str, Sequence[Write]], object]
TellLost = Callable[[Sequence[str], str], object]


def handle_changes(event: Mapping[str, Any], look_at: LookAt, tell_lost: TellLost) -> Sequence[str]:
    """Have each edited policy looked at once, with the writes to its item that the batch tells of.

    *tell_lost* hears which lines of the listing somebody removed, and a name of that change: no guard removes any.

    Return the sequence number of the first record that must come again.

    One record: ``{"eventName": "MODIFY", "dynamodb": {"Keys": {"name": {"S": "…"}, "sk": {"S": "live"}},
    "SequenceNumber": "111…"}}``. A failure ends the batch there: the stream repeats from it. When that is the very
    first edit the error itself is raised, so that it shows as the function's own.
    """
    done: set[str] = set()
    writes = _writes(event)
    for record in event.get("Records", ()):
        number = record["dynamodb"]["SequenceNumber"]
        try:
            if lost := _lost(record):
                tell_lost(lost, number)
            for name in _names(record):
                if name not in done:
                    look_at(name, writes.get(name, ()))
                    done.add(name)
        except Exception:
            if not done:
                raise
            return [number]
    return []


def _writes(event: Mapping[str, Any]) -> Mapping[str, Sequence[Write]]:
    """Return the writes to `live` items by policy, in the stream's order, which is that of the table for one item."""
    found: dict[str, list[Write]] = {}
    for record in event.get("Records", ()):
        write = write_of(record)
        if write:
            found.setdefault(record["dynamodb"]["Keys"]["name"]["S"], []).append(write)
    return found


def _names(record: Mapping[str, Any]) -> Sequence[str]:
    """Return the policies that *record* concerns, in order of their names where there are many."""
    keys = record["dynamodb"]["Keys"]
    name, sort = keys["name"]["S"], keys["sk"]["S"]
    if name == LISTING and sort == "head":
        before, after = (record["dynamodb"].get(image) or {} for image in ("OldImage", "NewImage"))
        lines = sorted({*before, *after})
        return [line.removeprefix(LISTING_PREFIX) for line in lines if _changed(line, before, after)]
    return [name] if sort in {"live", "head"} or sort.startswith(REVISION_PREFIX) else []


def _lost(record: Mapping[str, Any]) -> Sequence[str]:
    """Return the policies whose line of the listing is gone with *record*."""
    keys = record["dynamodb"]["Keys"]
    if keys["name"]["S"] != LISTING or keys["sk"]["S"] != "head":
        return ()
    before, after = (record["dynamodb"].get(image) or {} for image in ("OldImage", "NewImage"))
    gone = sorted(before.keys() - after.keys())
    return [line.removeprefix(LISTING_PREFIX) for line in gone if line.startswith(LISTING_PREFIX)]


def _changed(line: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return line.startswith(LISTING_PREFIX) and before.get(line) != after.get(line)
