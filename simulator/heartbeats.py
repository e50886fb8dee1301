"""Heartbeats that were read before: 99 of 100 records of an archive, and of each but the time it was sent is known.

Decides whether a record is one that was read already, byte for byte but for a good ``sent_at``. It must not know what
a heartbeat means.
"""

import re
from datetime import datetime
from typing import NamedTuple

from functions.ports.triage import NodeKey

MOST_KNOWN = 10_000  # some 900 bytes each
_SENT_AT = b'"sent_at":"'
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")  # as `format_time` writes it
_LENGTH = 27


class Heartbeat(NamedTuple):
    """What a heartbeat says, but when. ``rack`` is "" where it does not say; ``own``: the node itself sent it."""

    node: NodeKey
    spool: str
    first_seq: int
    rack: str
    own: bool


class Heartbeats:
    """Those that were read."""

    def __init__(self) -> None:
        """Know none."""
        self._known: dict[tuple[bytes, bytes], Heartbeat] = {}

    def find(self, body: bytes) -> Heartbeat | None:
        """Return what *body* says if it is one that was read before, sent at another time."""
        before, found, after = body.partition(_SENT_AT)
        known = self._known.get((before, after[_LENGTH:])) if found else None
        return known if known and _is_time(after[:_LENGTH]) else None

    def learn(self, body: bytes, heartbeat: Heartbeat) -> None:
        """Note that *body*, which has no events and says nothing of jobs, was read as *heartbeat*."""
        before, found, after = body.partition(_SENT_AT)
        if found and _is_time(after[:_LENGTH]):
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[before, after[_LENGTH:]] = heartbeat


def _is_time(raw: bytes) -> bool:
    try:
        text = raw.decode("ascii")
        return _TIME.fullmatch(text) is not None and datetime.fromisoformat(text).year > 1
    except ValueError:
        return False
