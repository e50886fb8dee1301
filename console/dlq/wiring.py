"""`relight dlq` on AWS: the only place here that makes clients."""

import time
from datetime import UTC, datetime

from botocore.config import Config

from console import aws
from console.dlq.adapters.asking import asking
from console.dlq.adapters.dropped import S3DroppedBatches
from console.dlq.adapters.lanes import AwsTargets, KinesisStream
from console.dlq.adapters.queues import SqsQueues
from console.dlq.adapters.redrives import DynamoRedrives
from console.dlq.adapters.stacks import CloudFormationStacks
from console.dlq.parts import Parts
from functions.adapters.rejects import AwsRejects

_CONFIG = Config(retries={"mode": "standard", "max_attempts": 5}, connect_timeout=5, read_timeout=70)


def connect(stack: str, region: str | None) -> Parts:
    """Find *stack* and return the parts that work on it. RelightError says what is missing."""
    with asking("connecting to AWS"):
        session = aws.session(region)
        found = CloudFormationStacks(session.client("cloudformation", config=_CONFIG)).find(stack)
        s3 = session.client("s3", config=_CONFIG)
        dynamodb = session.client("dynamodb", config=_CONFIG)
        sqs = session.client("sqs", config=_CONFIG)
        bucket, fleet = found.output("RejectsBucket"), found.output("FleetTable")
        return Parts(
            stack=found,
            queues=SqsQueues(sqs, session.client("cloudwatch", config=_CONFIG), _now),
            rejects=AwsRejects(dynamodb, fleet, s3, bucket),
            dropped=S3DroppedBatches(s3, bucket),
            redrives=DynamoRedrives(dynamodb, fleet),
            stream=KinesisStream(session.client("kinesis", config=_CONFIG), found.output("FaultsStream")),
            targets=AwsTargets(sqs, session.client("sns", config=_CONFIG), session.client("lambda", config=_CONFIG)),
            clock=_now,
            pause=time.sleep,
        )


def _now() -> datetime:
    return datetime.now(UTC)
