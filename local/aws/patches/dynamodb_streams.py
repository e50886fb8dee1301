"""Streams of tables: no Lambda inside the write, nothing for a write that changed nothing, a bounded past.

moto calls the Lambda from within the put (once, with all records since the last success), numbers records by the
length of a list, and emits a MODIFY for a put of an equal item, which DynamoDB does not.
"""

import threading
from typing import Any

from moto.dynamodb.models.table import StreamRecord, StreamShard

from local.aws.bells import Bells
from local.aws.patches.replacing import replace

KEPT_READ = 2_000
KEPT_UNREAD = 50_000

_lock = threading.RLock()


def apply(bells: Bells) -> None:
    """Append under a lock and ring the bell of the table's stream."""

    def add(self: Any, old: Any, new: Any) -> None:
        if old is not None and new is not None and old.to_json() == new.to_json():
            return
        name = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
        view = self.table.stream_specification["StreamViewType"]
        with _lock:
            number = self.starting_sequence_number + len(self.items)
            self.items.append(StreamRecord(self.table, view, name, old, new, number))
            _trim(self)
        bells.of(stream_arn(self.table)).ring()

    replace(StreamShard, "add", add)


def stream_arn(table: Any) -> str:
    return f"{table.table_arn}/stream/{table.latest_stream_label}"


def next_sequence(shard: Any) -> int:
    """The sequence number of the record to come."""
    with _lock:
        return int(shard.starting_sequence_number) + len(shard.items)


def records_from(shard: Any, sequence: int, limit: int) -> list[Any]:
    """Up to `limit` records from a sequence number on, oldest first."""
    with _lock:
        start = max(0, sequence - shard.starting_sequence_number)
        return list(shard.items[start : start + limit])


def set_cursor(shard: Any, reader: str, sequence: int) -> None:
    with _lock:
        shard.__dict__.setdefault("relight_cursors", {})[reader] = sequence


def drop_cursor(shard: Any, reader: str) -> None:
    with _lock:
        shard.__dict__.get("relight_cursors", {}).pop(reader, None)


def _trim(shard: Any) -> None:
    cursors = getattr(shard, "relight_cursors", {})
    end = shard.starting_sequence_number + len(shard.items)
    keep_from = min(cursors.values()) - KEPT_READ if cursors else end - KEPT_UNREAD
    surplus = keep_from - shard.starting_sequence_number
    if surplus > KEPT_READ:  # in steps, since each one moves the whole list
        del shard.items[:surplus]
        shard.starting_sequence_number += surplus
