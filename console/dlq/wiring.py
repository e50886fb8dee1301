"""`relight dlq` on AWS: the only place here that makes clients."""

import time
from datetime import UTC, datetime

from console import aws
from console.dlq.adapters.asking import asking
from console.dlq.adapters.dropped import S3DroppedBatches
from console.dlq.adapters.lanes import AwsTargets, KinesisStream
from console.dlq.adapters.queues import SqsQueues
from console.dlq.adapters.redrives import DynamoRedrives
from console.dlq.adapters.stacks import CloudFormationStacks
from console.dlq.parts import Parts
from functions.adapters.rejects import AwsRejects

_READ_SECONDS = 70  # a function that is called again answers when it is done


def connect(stack: str, region: str | None) -> Parts:
    """Find *stack* and return the parts that work on it. RelightError says what is missing."""
    with asking("connecting to AWS"):
        session = aws.session(region)
        patient = aws.session(region, read_seconds=_READ_SECONDS)
        found = CloudFormationStacks(session.client("cloudformation")).find(stack)
        s3 = session.client("s3")
        dynamodb = session.client("dynamodb")
        sqs = session.client("sqs")
        bucket, fleet = found.output("RejectsBucket"), found.output("FleetTable")
        return Parts(
            stack=found,
            queues=SqsQueues(sqs, session.client("cloudwatch"), _now),
            rejects=AwsRejects(dynamodb, fleet, s3, bucket),
            dropped=S3DroppedBatches(s3, bucket),
            redrives=DynamoRedrives(dynamodb, fleet),
            stream=KinesisStream(session.client("kinesis"), found.output("FaultsStream")),
            targets=AwsTargets(sqs, session.client("sns"), patient.client("lambda")),
            clock=_now,
            pause=time.sleep,
        )


def _now() -> datetime:
    return datetime.now(UTC)
