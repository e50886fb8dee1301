"""A stream's capacity mode is read from the template.

moto reads ShardCount alone: an ON_DEMAND stream got one shard instead of four, and showed PROVISIONED.
"""

from typing import Any

from moto.kinesis.models import Stream

from local.aws.patches.replacing import Make, around_creation

_ON_DEMAND_SHARDS = 4  # what an on-demand stream starts with


def apply() -> None:
    around_creation(Stream, _create)


def _create(make: Make, name: str, resource: dict[str, Any], _region: str) -> Any:
    stream = make(name, resource)
    mode = resource.get("Properties", {}).get("StreamModeDetails", {})
    if mode.get("StreamMode") == "ON_DEMAND":
        stream.stream_mode = dict(mode)
        stream.shards.clear()
        stream.init_shards(_ON_DEMAND_SHARDS)
    return stream
