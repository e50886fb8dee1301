"""Kinesis as an event source: shards, keys and the shape of its records."""

import hashlib
from collections.abc import Mapping
from typing import Any

from local.aws import backends
from local.aws.event_sources.lane import Lane
from local.aws.event_sources.mapping import ActiveMapping
from local.aws.event_sources.stream_batches import StreamRecord, settings_from
from local.aws.patches import kinesis_shards

# How many records a lane looks at in one step for keys of its own.
_STEP = 1_000
GRANTS = (
    "kinesis:DescribeStream",
    "kinesis:DescribeStreamSummary",
    "kinesis:GetRecords",
    "kinesis:GetShardIterator",
    "kinesis:ListShards",
)


def lane_of(partition_key: str, factor: int) -> int:
    """The lane of a key among `factor` lanes: the same key always takes the same one, so its order holds."""
    if factor == 1:
        return 0
    return int.from_bytes(hashlib.md5(partition_key.encode(), usedforsecurity=False).digest()[-4:], "big") % factor


def event_of(record: Any, shard: str, arn: str, role: str) -> Mapping[str, Any]:
    """A record as the function sees it (developer guide, "Example event" of Kinesis)."""
    return {
        "kinesis": {
            "kinesisSchemaVersion": "1.0",
            "partitionKey": record.partition_key,
            "sequenceNumber": str(record.sequence_number),
            "data": record.data,
            "approximateArrivalTimestamp": round(record.created_at, 3),
        },
        "eventSource": "aws:kinesis",
        "eventVersion": "1.0",
        "eventID": f"{shard}:{record.sequence_number}",
        "eventName": "aws:kinesis:record",
        "invokeIdentityArn": role,
        "awsRegion": arn.split(":")[3],
        "eventSourceARN": arn,
    }


class KinesisLane:
    """The records of one shard whose keys belong to one lane."""

    def __init__(self, mapping: ActiveMapping, shard: Any, lane: int, factor: int, after: int) -> None:
        self.shard: str = shard.shard_id
        self._mapping = mapping
        self._shard = shard
        self._lane = lane
        self._factor = factor
        self._after = after
        self._reader = f"{mapping.uuid}/{lane}"
        kinesis_shards.set_cursor(shard, self._reader, after)

    def pending(self, limit: int) -> tuple[StreamRecord, ...]:
        mine: list[Any] = []
        looked_at = self._after
        while len(mine) < limit:
            step = kinesis_shards.records_after(self._shard, looked_at, limit if self._factor == 1 else _STEP)
            if not step:
                break
            looked_at = step[-1].sequence_number
            mine += [record for record in step if lane_of(record.partition_key, self._factor) == self._lane]
        if not mine and looked_at > self._after:  # nothing of ours: no need to look at these again
            self._move(looked_at)
        role = self._mapping.function().role if mine else ""
        return tuple(self._record(record, role) for record in mine[:limit])

    def _record(self, record: Any, role: str) -> StreamRecord:
        event = event_of(record, self.shard, self._mapping.source_arn, role)
        arrived = record.created_at_datetime.astimezone()
        return StreamRecord(str(record.sequence_number), arrived, event, len(record.data) + len(record.partition_key))

    def checkpoint(self, last: StreamRecord) -> None:
        self._move(int(last.sequence))

    def _move(self, sequence: int) -> None:
        self._after = sequence
        kinesis_shards.set_cursor(self._shard, self._reader, sequence)

    def close(self) -> None:
        kinesis_shards.drop_cursor(self._shard, self._reader)


def start(mapping: ActiveMapping) -> None:
    """Serve a mapping on a stream.

    Raises:
        UnsupportedError: the mapping asks for something that is not represented here.
    """
    settings = settings_from(mapping.properties)
    stream = backends.stream(mapping.source_arn)
    mapping.record(*GRANTS)
    for shard in stream.shards.values():
        after = 0 if settings.from_start else kinesis_shards.last_sequence(shard)
        for lane in range(settings.parallelization):
            source = KinesisLane(mapping, shard, lane, settings.parallelization, after)
            Lane(mapping, source, settings).start()
