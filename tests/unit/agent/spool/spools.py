"""What the tests of the spool share."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager

from agent.spool.spool import Spool

Opener = Callable[..., AbstractContextManager[Spool]]
EVERYTHING = 1 << 30


def is_on_disk(spool: Spool) -> bool:
    """Ask anew: a type checker takes a property for a constant."""
    return spool.on_disk


def names(spool: Spool) -> list[str]:
    batch = spool.take(EVERYTHING)
    if batch is None:
        return []
    spool.release(batch)
    events = [json.loads(event.body) for event in batch.events]
    assert [event["seq"] for event in events] == [event.seq for event in batch.events]
    return [event["attributes"].get("name") or event["kind"] for event in events]
