"""Reads the policies table's stream: which policies' `live` items changed.

Decides what is an edit at all. It must not look at the images: by the time they arrive the item may be another one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def handle_changes(event: Mapping[str, Any], look_at: Callable[[str], None]) -> Sequence[str]:
    """Have each edited policy looked at once; return the sequence number of the first record that must come again.

    One record: ``{"eventName": "MODIFY", "dynamodb": {"Keys": {"name": {"S": "…"}, "sk": {"S": "live"}},
    "SequenceNumber": "111…"}}``. A failure ends the batch there: the stream repeats from it. When that is the very
    first edit the error itself is raised, so that it shows as the function's own.
    """
    done: set[str] = set()
    for record in event.get("Records", ()):
        keys = record["dynamodb"]["Keys"]
        name = keys["name"]["S"]
        if keys["sk"]["S"] != "live" or name in done:
            continue
        try:
            look_at(name)
        except Exception:
            if not done:
                raise
            return [record["dynamodb"]["SequenceNumber"]]
        done.add(name)
    return []
