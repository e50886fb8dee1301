"""Which lane calls which function: batches, concurrency, attempts, and where a batch that is given up goes.

Decides how a function is called. It must not know what the function does.
"""

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.buckets import Buckets
from infra.lanes import Lanes
from infra.tables import Tables

# A dependency that is down blocks the shard and is retried: the age decides when to give up, not the number of tries.
MANY_ATTEMPTS = 10_000  # the most a mapping takes
# What an object of the archive is made of: as many as a mapping takes; 6 MB are the end in any case.
MOST_RECORDS, MOST_CHANGES = 10_000, 1_000
TWELVE_HOURS = 12 * 3600  # stream retention is 72 h: what is given up can still be read for 60 h
_PARTIAL = ["ReportBatchItemFailures"]
_DropTo = lambda_.CfnEventSourceMapping.DestinationConfigProperty


class Triggers(Construct):
    """All mappings. A mapping bounds itself (MaximumConcurrency): no function has reserved concurrency."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        functions: dict[str, lambda_.Function],
        lanes: Lanes,
        tables: Tables,
        buckets: Buckets,
        archive_window_seconds: int,
    ) -> None:
        """Create the mappings."""
        super().__init__(scope, construct_id)
        self._drop_to = _DropTo(
            on_failure=lambda_.CfnEventSourceMapping.OnFailureProperty(destination=buckets.rejects.bucket_arn)
        )
        self._faults(functions["triage"], lanes.faults.stream_arn)
        self._queue("OverflowToTriage", functions["triage"], lanes.overflow.queue_arn, concurrency=4)
        # A batch is one read and one decision; groups (clusters) run beside each other, a group never.
        self._queue("DecisionsToCoordinate", functions["coordinate"], lanes.decisions.queue_arn, concurrency=20)
        self._queue("AwsEventsToIntake", functions["intake"], lanes.aws_events.queue_arn, concurrency=4)
        if lanes.calls:
            self._queue("CallsToCallers", functions["callers"], lanes.calls.queue_arn, concurrency=2)
        self._changes("PoliciesToGuard", functions["guard"], tables.policies.table_stream_arn)
        self._changes("IncidentsToOutbox", functions["outbox"], tables.incidents.table_stream_arn)
        for name, source, size in (
            ("FaultsToArchive", lanes.faults.stream_arn, MOST_RECORDS),
            ("IncidentsToArchive", tables.incidents.table_stream_arn, MOST_CHANGES),
            ("PoliciesToArchive", tables.policies.table_stream_arn, MOST_CHANGES),
        ):
            self._changes(name, functions["archive"], source, size=size, window=archive_window_seconds)

    def _faults(self, function: lambda_.Function, stream_arn: str) -> None:
        lambda_.CfnEventSourceMapping(
            self,
            "FaultsToTriage",
            function_name=function.function_arn,
            event_source_arn=stream_arn,
            starting_position="TRIM_HORIZON",
            batch_size=500,
            parallelization_factor=4,  # order holds per partition key, which is the node
            bisect_batch_on_function_error=True,
            function_response_types=_PARTIAL,
            maximum_retry_attempts=MANY_ATTEMPTS,
            maximum_record_age_in_seconds=TWELVE_HOURS,
            destination_config=self._drop_to,
        )

    def _queue(self, name: str, function: lambda_.Function, queue_arn: str, *, concurrency: int) -> None:
        lambda_.CfnEventSourceMapping(
            self,
            name,
            function_name=function.function_arn,
            event_source_arn=queue_arn,
            batch_size=10,
            function_response_types=_PARTIAL,
            scaling_config=lambda_.CfnEventSourceMapping.ScalingConfigProperty(maximum_concurrency=concurrency),
        )

    def _changes(
        self,
        name: str,
        function: lambda_.Function,
        stream_arn: str | None,
        *,
        size: int = 100,
        window: int | None = None,
    ) -> None:
        assert stream_arn is not None
        lambda_.CfnEventSourceMapping(
            self,
            name,
            function_name=function.function_arn,
            event_source_arn=stream_arn,
            starting_position="TRIM_HORIZON",
            batch_size=size,
            maximum_batching_window_in_seconds=window,
            bisect_batch_on_function_error=True,
            function_response_types=_PARTIAL,
            maximum_retry_attempts=MANY_ATTEMPTS,
            maximum_record_age_in_seconds=TWELVE_HOURS,
            destination_config=self._drop_to,
        )
