"""Shards that two writers may use at once, and whose past does not grow without end.

moto says of `Shard.put_record` "this function is not safe for concurrency": two puts at the same moment get the same
sequence number and one record is lost. It also walks all records on each put and each read, keeps them for ever, and
calls a Lambda inside the put, one record at a time.
"""

import threading
from typing import Any

from moto.kinesis.models import KinesisBackend, Record, Shard, Stream

from local.aws.bells import Bells
from local.aws.patches.replacing import replace

# Records kept behind the slowest reader (a person's GetRecords may look back that far), and without any reader.
KEPT_READ = 5_000
KEPT_UNREAD = 100_000

_lock = threading.RLock()


def apply(bells: Bells) -> None:
    """Lock puts, make them and reads quick, and ring the stream's bell."""

    def put(self: Any, partition_key: str, explicit_hash_key: str, data: str) -> tuple[str, str]:
        with _lock:
            shard = self.get_shard_for_key(partition_key, explicit_hash_key)
            sequence = shard.put_record(partition_key, data, explicit_hash_key)
        bells.of(self.arn).ring()
        return sequence, shard.shard_id

    replace(Stream, "put_record", put)
    replace(Shard, "put_record", _append)
    replace(Shard, "get_max_sequence_number", last_sequence)
    replace(Shard, "get_min_sequence_number", first_sequence)
    replace(Shard, "get_records", _get_records)
    replace(KinesisBackend, "_send_stream_metrics", lambda *_args, **_kwargs: None)  # metrics nobody reads fill memory


def _append(self: Any, partition_key: str, data: str, explicit_hash_key: str) -> str:
    with _lock:
        sequence = last_sequence(self) + 1
        self.records[sequence] = Record(partition_key, data, sequence, explicit_hash_key)
        self.relight_last = sequence
        _trim(self)
    return str(sequence)


def last_sequence(shard: Any) -> int:
    """The newest sequence number ever given in this shard; 0 before the first."""
    last: int = getattr(shard, "relight_last", 0)
    return last


def first_sequence(shard: Any) -> int:
    """The oldest sequence number still held; 0 when there is none."""
    return next(iter(shard.records), 0)


def records_after(shard: Any, sequence: int, limit: int) -> list[Any]:
    """Up to `limit` records after a sequence number, oldest first."""
    with _lock:
        start = max(sequence + 1, first_sequence(shard))
        return [shard.records[number] for number in range(start, min(start + limit, last_sequence(shard) + 1))]


def set_cursor(shard: Any, reader: str, sequence: int) -> None:
    """Say how far a reader has come: what all have passed may be forgotten."""
    with _lock:
        cursors = shard.__dict__.setdefault("relight_cursors", {})
        cursors[reader] = sequence


def drop_cursor(shard: Any, reader: str) -> None:
    with _lock:
        shard.__dict__.get("relight_cursors", {}).pop(reader, None)


def _trim(shard: Any) -> None:
    cursors = getattr(shard, "relight_cursors", {})
    read_to = min(cursors.values()) - KEPT_READ if cursors else last_sequence(shard) - KEPT_UNREAD
    while shard.records and first_sequence(shard) < read_to:
        shard.records.popitem(last=False)


def _get_records(self: Any, last_sequence_id: str, limit: int | None) -> tuple[list[Any], int, int]:
    found = records_after(self, int(last_sequence_id), limit or 10_000)
    if not found:
        return [], int(last_sequence_id), 0
    newest = self.records[last_sequence(self)]
    behind = int((newest.created_at - found[-1].created_at) * 1000)
    return found, found[-1].sequence_number, behind
