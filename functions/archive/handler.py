"""Lambda `archive`: wiring only. Triggered by Kinesis `faults` and the streams of the incidents and policies tables."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

import boto3

from functions.adapters.archive import S3Archive
from functions.adapters.telemetry import PowertoolsTelemetry
from functions.adapters.topology import DynamoTopology
from functions.archive.archive import Archive
from functions.archive.keeping import Keeper
from functions.archive.settings import Settings
from functions.clients import bounded
from functions.place_book import PlaceBook

_CLIENT = bounded()
TELEMETRY = PowertoolsTelemetry()


@cache
def wire() -> Archive:
    """Build the archive's writer once a worker."""
    settings = Settings.from_environment(os.environ)
    archive = S3Archive(boto3.client("s3", config=_CLIENT), settings.archive_bucket)
    topology = DynamoTopology(boto3.client("dynamodb", config=_CLIENT), settings.fleet_table)
    return Archive(
        archive=archive,
        keeper=Keeper(archive, PlaceBook(topology)),
        telemetry=TELEMETRY,
        clock=partial(datetime.now, UTC),
    )


def handle(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Write one batch. What fails raises and comes again as a whole: a part of it would make other objects."""
    with TELEMETRY.flushed():
        wire().handle(event)
    return {"batchItemFailures": []}
