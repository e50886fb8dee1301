"""Heartbeats that were read before: 99 of 100 records of an archive, and of each all is known but two numbers.

Decides whether a record is one that was read already, byte for byte but for a good ``sent_at`` and ``first_seq``. It
must not know what a heartbeat means.
"""

import re
from datetime import datetime
from typing import NamedTuple

from functions.ports.triage import NodeKey

MOST_KNOWN = 10_000  # some 900 bytes each
_FIRST_SEQ, _SENT_AT = b'"first_seq":', b',"sent_at":"'
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")  # as `format_time` writes it
_LENGTH = 27
_NOTHING = b":[]}"  # how an envelope ends whose last list, of events or of jobs, is empty
_NUMBER = re.compile(rb"0|[1-9]\d{0,14}")  # all of these are below `LARGEST_NUMBER`


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
        """Return what *body* says if it is one that was read before, sent at another time or further on."""
        cut = _cut(body) if body.endswith(_NOTHING) else None  # faults are told apart by their end, in no time
        known = self._known.get((cut.before, cut.after)) if cut else None
        return known._replace(first_seq=cut.first_seq) if cut and known else None

    def learn(self, body: bytes, heartbeat: Heartbeat) -> None:
        """Note that *body*, which has no events and says nothing of jobs, was read as *heartbeat*."""
        cut = _cut(body)
        if cut and cut.first_seq == heartbeat.first_seq:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[cut.before, cut.after] = heartbeat


class _Cut(NamedTuple):
    """A body without what differs from one heartbeat to the next."""

    before: bytes
    first_seq: int
    after: bytes


def _cut(body: bytes) -> _Cut | None:
    """Cut *body* at its last ``first_seq`` before the first time; None where they are not as `Envelope` writes them."""
    head, found, rest = body.partition(_SENT_AT)
    before, named, digits = head.rpartition(_FIRST_SEQ)
    if not found or not named or _FIRST_SEQ in rest or not _NUMBER.fullmatch(digits) or not _is_time(rest[:_LENGTH]):
        return None
    return _Cut(before, int(digits), rest[_LENGTH:])


def _is_time(raw: bytes) -> bool:
    try:
        text = raw.decode("ascii")
        return _TIME.fullmatch(text) is not None and datetime.fromisoformat(text).year > 1
    except ValueError:
        return False
