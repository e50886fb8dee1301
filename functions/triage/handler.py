"""Lambda `triage`: wiring only. Triggered by Kinesis `faults` and SQS `overflow`."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

import boto3

from functions.adapters.archive import S3Archive
from functions.adapters.facts import DynamoFacts
from functions.adapters.node_states import WORKERS, DynamoNodeStates
from functions.adapters.policies import DynamoPolicies
from functions.adapters.progress import DynamoProgress
from functions.adapters.rejects import AwsRejects
from functions.adapters.seen import DynamoSeen
from functions.adapters.sqs_decisions import SqsDecisions
from functions.adapters.telemetry import PowertoolsTelemetry
from functions.adapters.topology import DynamoTopology
from functions.archive.keeping import Keeper
from functions.clients import bounded
from functions.place_book import PlaceBook
from functions.triage.collector import calm_collector
from functions.triage.facts import FactBook
from functions.triage.places import Places
from functions.triage.progress import ProgressBook
from functions.triage.records import read_records
from functions.triage.rulebooks import Rulebooks
from functions.triage.seen import SeenBook
from functions.triage.settings import Settings
from functions.triage.triage import Triage

# Five tries as ever: a throttled table is waited for. Calls that hang leave room for them in the function's minute.
_CLIENT = bounded(read_seconds=5, tries=5, max_pool_connections=WORKERS)
TELEMETRY = PowertoolsTelemetry()


@cache
def wire() -> Triage:
    """Build triage once a worker."""
    settings = Settings.from_environment(os.environ)
    dynamodb = boto3.client("dynamodb", config=_CLIENT)
    clock = partial(datetime.now, UTC)
    s3 = boto3.client("s3", config=_CLIENT)
    book = PlaceBook(DynamoTopology(dynamodb, settings.fleet_table))
    facts = DynamoFacts(dynamodb, settings.fleet_table)
    calm_collector()
    return Triage(
        states=DynamoNodeStates(dynamodb, settings.fleet_table),
        rulebooks=Rulebooks(DynamoPolicies(dynamodb, settings.policies_table), TELEMETRY),
        rejects=AwsRejects(
            dynamodb,
            settings.fleet_table,
            s3,
            settings.rejects_bucket,
            kept=settings.rejects_kept,
        ),
        decisions=SqsDecisions(boto3.client("sqs", config=_CLIENT), settings.decisions_queue_url),
        seen=SeenBook(DynamoSeen(dynamodb, settings.fleet_table, clock), settings.seen_interval),
        telemetry=TELEMETRY,
        clock=clock,
        facts=FactBook(facts, TELEMETRY),
        progress=ProgressBook(facts, DynamoProgress(dynamodb, settings.fleet_table), settings.seen_interval * 0.9),
        places=Places(book),
        archive=Keeper(S3Archive(s3, settings.archive_bucket), book),
    )


def handle(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Take one batch; answer which records come again."""
    with TELEMETRY.flushed():
        failed = wire().handle(read_records(event))
    return {"batchItemFailures": [{"itemIdentifier": one} for one in failed]}
