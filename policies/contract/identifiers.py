"""Deterministic names: the same thing always gets the same id, so that a repeat is recognised.

It must not draw random numbers or read a clock.
"""

import hashlib

ID_LENGTH = 32


def stable_id(*parts: object) -> str:
    """Return 32 hex digits of sha256 over *parts*.

    Each part is prefixed with its length, so that ("ab", "c") differs from ("a", "bc").
    """
    texts = [str(part).encode("utf-8", "surrogatepass") for part in parts]
    told = b"".join([b"%d:%b" % (len(text), text) for text in texts])
    return hashlib.sha256(told).hexdigest()[:ID_LENGTH]


def event_id(*, node: str, boot_id: str, source: str, cursor: object) -> str:
    """Return the id of the event that *source* first saw at *cursor* on this boot of *node* (an instance id)."""
    return stable_id("event", node, boot_id, source, cursor)
