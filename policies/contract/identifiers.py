"""Deterministic names: the same thing always gets the same id, so that a repeat is recognised.

It must not draw random numbers or read a clock.
"""

import hashlib
from collections.abc import Iterable

ID_LENGTH = 32


def stable_id(*parts: object) -> str:
    """Return 32 hex digits of sha256 over *parts*.

    Each part is prefixed with its length, so that ("ab", "c") differs from ("a", "bc").
    """
    texts = [str(part) for part in parts]
    told = "".join([f"{len(text)}:{text}" for text in texts])
    raw = told.encode() if told.isascii() else _in_bytes(texts)  # nearly always as many characters as bytes
    return hashlib.sha256(raw).hexdigest()[:ID_LENGTH]


def _in_bytes(texts: Iterable[str]) -> bytes:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return b"".join([b"%d:%b" % (len(text), text) for text in encoded])


def event_id(*, node: str, boot_id: str, source: str, cursor: object) -> str:
    """Return the id of the event that *source* first saw at *cursor* on this boot of *node* (an instance id)."""
    return stable_id("event", node, boot_id, source, cursor)
