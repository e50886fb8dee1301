"""A table's stream as an event source: one shard, images in order."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from local.aws import backends
from local.aws.event_sources.lane import Lane
from local.aws.event_sources.mapping import ActiveMapping
from local.aws.event_sources.stream_batches import StreamRecord, settings_from
from local.aws.patches import dynamodb_streams as shards

GRANTS = ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams")


def event_of(record: Any, arn: str) -> Mapping[str, Any]:
    """A record as the function sees it (developer guide, "Example event" of DynamoDB Streams)."""
    original = record.to_json()
    created = original["dynamodb"]["ApproximateCreationDateTime"].replace(tzinfo=UTC).timestamp()
    return {
        **original,
        "awsRegion": arn.split(":")[3],
        "dynamodb": {**original["dynamodb"], "ApproximateCreationDateTime": created},
        "eventSourceARN": arn,
    }


class TableLane:
    """The one shard of a table's stream."""

    def __init__(self, mapping: ActiveMapping, shard: Any, start_at: int) -> None:
        self.shard: str = shard.id
        self._mapping = mapping
        self._shard = shard
        self._next = start_at
        shards.set_cursor(shard, mapping.uuid, start_at)

    def pending(self, limit: int) -> tuple[StreamRecord, ...]:
        found = shards.records_from(self._shard, self._next, limit)
        return tuple(_stream_record(event_of(record, self._mapping.source_arn)) for record in found)

    def checkpoint(self, last: StreamRecord) -> None:
        self._next = int(last.sequence) + 1
        shards.set_cursor(self._shard, self._mapping.uuid, self._next)

    def close(self) -> None:
        shards.drop_cursor(self._shard, self._mapping.uuid)


def _stream_record(event: Mapping[str, Any]) -> StreamRecord:
    change = event["dynamodb"]
    arrived = datetime.fromtimestamp(change["ApproximateCreationDateTime"], UTC)
    return StreamRecord(change["SequenceNumber"], arrived, event, change["SizeBytes"])


def start(mapping: ActiveMapping) -> None:
    """Serve a mapping on a table's stream. ParallelizationFactor has no effect: there is one lane.

    Raises:
        UnsupportedError: the mapping asks for something that is not represented here.
    """
    settings = settings_from(mapping.properties)
    shard = backends.table_of_stream(mapping.source_arn).stream_shard
    mapping.record(*GRANTS)
    first = int(shard.starting_sequence_number) if settings.from_start else shards.next_sequence(shard)
    Lane(mapping, TableLane(mapping, shard, first), settings).start()
