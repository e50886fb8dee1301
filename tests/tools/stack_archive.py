"""What the archive of a local cluster must hold, by the world's own account: its stream, its queue, its tables."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from functions.adapters.archive import S3Archive
from local.demo.cluster import LocalCluster
from local.fleet.infrastructure import NODE_ROLE
from policies.contract.archive import ArchivedRecord, Happening
from policies.contract.archive_names import INCIDENTS, POLICIES
from simulator.archive.period import read_happenings, read_records
from simulator.archive.reading import Told

_DAY = timedelta(days=1)


class StackArchive:
    """The archive of *cluster*, all that is in it. ``told`` is of the last reading."""

    def __init__(self, cluster: LocalCluster) -> None:
        self._cluster = cluster
        self._archive = S3Archive(cluster.aws.client("s3"), cluster.outputs["ArchiveBucket"])
        self.told = Told()

    def records(self) -> list[ArchivedRecord]:
        return list(read_records(self._archive, *self._period()))

    def incidents(self) -> list[Happening]:
        return list(read_happenings(self._archive, INCIDENTS, *self._period()))

    def policies(self) -> list[Happening]:
        return list(read_happenings(self._archive, POLICIES, *self._period()))

    def _period(self) -> tuple[datetime, datetime, Told]:
        self.told = Told()
        now = datetime.now(UTC)
        return now - _DAY, now + _DAY, self.told


def on_the_stream(cluster: LocalCluster) -> dict[str, bytes]:
    """Every record that the stream still has, by the name that Lambda gives it."""
    kinesis, name = cluster.aws.client("kinesis"), cluster.outputs["FaultsStream"]
    return {
        f"{shard['ShardId']}:{record['SequenceNumber']}": record["Data"]
        for shard in kinesis.list_shards(StreamName=name)["Shards"]
        for record in _of_shard(kinesis, name, shard["ShardId"])
    }


def _of_shard(kinesis: Any, stream: str, shard: str) -> Iterator[Any]:  # noqa: ANN401 - boto3's are made at run time
    place = kinesis.get_shard_iterator(StreamName=stream, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    found = kinesis.get_records(ShardIterator=place["ShardIterator"])
    while found["Records"]:
        yield from found["Records"]
        found = kinesis.get_records(ShardIterator=found["NextShardIterator"])


def sent_by_overflow(cluster: LocalCluster) -> int:
    """How often agents put something on the overflow queue."""
    calls = cluster.aws.recorded_calls()
    return sum(call.count for call in calls if (call.principal, call.action) == (NODE_ROLE, "sqs:SendMessage"))


def items_of(cluster: LocalCluster, output: str, sort: str) -> list[dict[str, Any]]:
    """Every item of that table whose sort key begins with *sort*."""
    pages = (
        cluster.aws.client("dynamodb")
        .get_paginator("scan")
        .paginate(
            TableName=cluster.outputs[output],
            FilterExpression="begins_with(sk, :sort)",
            ExpressionAttributeValues={":sort": {"S": sort}},
            ConsistentRead=True,
        )
    )
    return [item for page in pages for item in page["Items"]]
