"""The ways an event takes: the `faults` stream, the queues beside it, and where what fails comes to rest.

Decides retention, encryption and redrive. It must not know who reads a lane (`triggers.py` does).
"""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_kinesis as kinesis
from aws_cdk import aws_sqs as sqs
from constructs import Construct

STREAM_RETENTION = Duration.hours(72)  # outlives the mapping's 12 h by a weekend: a person can still replay
DEAD_RETENTION = Duration.days(14)  # the longest SQS keeps


class Lanes(Construct):
    """Stream and queues. Everything is encrypted with keys of the service, so that no key policy can stop a lane."""

    def __init__(self, scope: Construct, construct_id: str, *, with_calls: bool = False) -> None:
        """Create the stream, three queues with their dead-letter queues, and one for undelivered invocations.

        A fourth queue is for calls that wrote policies, where somebody wants to know.
        """
        super().__init__(scope, construct_id)
        self.faults = kinesis.Stream(
            self,
            "Faults",
            stream_mode=kinesis.StreamMode.ON_DEMAND,
            retention_period=STREAM_RETENTION,
            encryption=kinesis.StreamEncryption.MANAGED,
            removal_policy=RemovalPolicy.RETAIN,
        )
        # Visibility is six times the function's timeout (AWS's advice for SQS mappings), except where a message must
        # come back sooner: coordinate runs 10 s at most, and an incident waits for its lost message to reappear.
        self.overflow = self._queue("Overflow", visibility=360, receives=5)
        self.aws_events = self._queue("AwsEvents", visibility=180, receives=5)
        # It dead-letters by itself what can never become right; what comes back waits for a dependency, and gets ten
        # minutes (20 times 30 s) for that: docs/decisions/0013-what-waits-and-what-is-refused.md.
        self.decisions = self._queue("Decisions", visibility=30, receives=20, fifo=True)
        self.undelivered = self._dead("Undelivered")
        self.calls = self._queue("Calls", visibility=180, receives=5) if with_calls else None

    @property
    def working(self) -> dict[str, sqs.Queue]:
        """Return the queues somebody reads, by name."""
        always = {"overflow": self.overflow, "aws-events": self.aws_events, "decisions": self.decisions}
        return {**always, "calls": self.calls} if self.calls else always

    @property
    def dead(self) -> dict[str, sqs.IQueue]:
        """Return every dead-letter queue, by name."""
        redriven = {name: queue.dead_letter_queue for name, queue in self.working.items()}
        found = {f"{name}-dlq": dead.queue for name, dead in redriven.items() if dead}
        return {**found, "undelivered": self.undelivered}

    @property
    def decisions_dead(self) -> sqs.IQueue:
        """Return where decisions come to rest: by their count of receives, or since coordinate refuses them."""
        return self.dead["decisions-dlq"]

    def _queue(self, name: str, *, visibility: int, receives: int, fifo: bool = False) -> sqs.Queue:
        return sqs.Queue(
            self,
            name,
            # Ids are given by the sender, never taken from the content; limits hold per group, not per queue.
            fifo=True if fifo else None,
            deduplication_scope=sqs.DeduplicationScope.MESSAGE_GROUP if fifo else None,
            fifo_throughput_limit=sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID if fifo else None,
            visibility_timeout=Duration.seconds(visibility),
            retention_period=Duration.days(4),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=self._dead(f"{name}Dlq", fifo=fifo), max_receive_count=receives
            ),
        )

    def _dead(self, name: str, *, fifo: bool = False) -> sqs.Queue:
        return sqs.Queue(
            self,
            name,
            fifo=True if fifo else None,
            retention_period=DEAD_RETENTION,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            removal_policy=RemovalPolicy.RETAIN,
        )
