"""Who was heard when: ``CLUSTER#<c>`` / ``SEEN#<day>-<bucket>`` with ``n:<instance>`` = ``<epoch ms> <boot id>``.

Decides how nodes are packed: into few items, since a write costs by the size of its item, and by the day, so that
nodes that are gone leave by themselves. It must not decide who is silent.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from functions.adapters.aws import calling
from functions.ports.triage import Heard

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from types_boto3_dynamodb import DynamoDBClient

BUCKETS = 16
PREFIX = "n:"  # keeps the names of nodes apart from the item's own attributes
KEPT = timedelta(days=3)
MOST_NODES_A_WRITE = 100  # an update expression has at most 4 KB
_DAY = timedelta(days=1)


class DynamoSeen:
    """Both sides: `SeenWriter` (functions/ports/triage.py) and `Heartbeats` (functions/ports/heartbeats.py)."""

    def __init__(self, client: DynamoDBClient, table: str, clock: Callable[[], datetime]) -> None:
        """Use *table*; *clock* tells readers which days to look at."""
        self._client = client
        self._table = table
        self._clock = clock

    def write(self, heard: Collection[Heard]) -> None:
        """See the port."""
        items: dict[tuple[str, str], list[Heard]] = defaultdict(list)
        for one in heard:
            items[one.cluster, _bucket(one.instance_id, one.at)].append(one)
        for (cluster, bucket), nodes in items.items():
            for start in range(0, len(nodes), MOST_NODES_A_WRITE):
                self._update(cluster, bucket, nodes[start : start + MOST_NODES_A_WRITE])

    def _update(self, cluster: str, bucket: str, nodes: Sequence[Heard]) -> None:
        places = ", ".join(f"#n{at} = :n{at}" for at in range(len(nodes)))
        values = {f":n{at}": {"S": f"{int(one.at.timestamp() * 1000)} {one.boot_id}"} for at, one in enumerate(nodes)}
        expires = int((max(one.at for one in nodes) + KEPT).timestamp())
        with calling("writing who was heard"):
            self._client.update_item(
                TableName=self._table,
                Key={"pk": {"S": f"CLUSTER#{cluster}"}, "sk": {"S": bucket}},
                UpdateExpression=f"SET {places}, expires = :expires",
                ExpressionAttributeNames={f"#n{at}": f"{PREFIX}{one.instance_id}" for at, one in enumerate(nodes)},
                ExpressionAttributeValues={**values, ":expires": {"N": str(expires)}},
            )

    def last_seen(self, cluster: str, instance_id: str) -> datetime | None:
        """See the port `Heartbeats`."""
        now = self._clock()
        times = (self._get(cluster, instance_id, day) for day in (now + timedelta(minutes=5), now, now - _DAY))
        return max((moment for moment in times if moment is not None), default=None)

    def _get(self, cluster: str, instance_id: str, day: datetime) -> datetime | None:
        with calling("reading when a node was last heard"):
            answer = self._client.get_item(
                TableName=self._table,
                Key={"pk": {"S": f"CLUSTER#{cluster}"}, "sk": {"S": _bucket(instance_id, day)}},
                ProjectionExpression="#node",
                ExpressionAttributeNames={"#node": f"{PREFIX}{instance_id}"},
                ConsistentRead=True,
            )
        packed = answer.get("Item", {}).get(f"{PREFIX}{instance_id}")
        return None if packed is None else _unpack(cluster, instance_id, packed["S"]).at

    def everyone(self, cluster: str) -> Mapping[str, Heard]:
        """Return every node of *cluster* heard today or yesterday (UTC), by instance id, with its newest sign."""
        found: dict[str, Heard] = {}
        now = self._clock()
        for day in (now - _DAY, now):
            for one in self._day(cluster, day):
                if one.instance_id not in found or one.at > found[one.instance_id].at:
                    found[one.instance_id] = one
        return found

    def _day(self, cluster: str, day: datetime) -> Iterator[Heard]:
        with calling("reading who was heard"):
            pages = self._client.get_paginator("query").paginate(
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :day)",
                ExpressionAttributeValues={":pk": {"S": f"CLUSTER#{cluster}"}, ":day": {"S": _prefix(day)}},
                ConsistentRead=True,
            )
            items = [item for page in pages for item in page["Items"]]
        for item in items:
            for name, packed in item.items():
                if name.startswith(PREFIX):
                    yield _unpack(cluster, name.removeprefix(PREFIX), packed["S"])


def _prefix(day: datetime) -> str:
    return f"SEEN#{day.astimezone(UTC):%Y%m%d}-"


def _bucket(instance_id: str, day: datetime) -> str:
    return f"{_prefix(day)}{zlib.crc32(instance_id.encode()) % BUCKETS:02d}"


def _unpack(cluster: str, instance_id: str, packed: str) -> Heard:
    milliseconds, _, boot_id = packed.partition(" ")
    return Heard(cluster, instance_id, boot_id, datetime.fromtimestamp(int(milliseconds) / 1000, UTC))
