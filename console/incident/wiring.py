"""`relight incident` on AWS: the only place here that makes clients."""

import time
from datetime import UTC, datetime

from console import aws
from console.dlq.adapters.asking import asking
from console.dlq.adapters.stacks import CloudFormationStacks
from console.incident.adapters.closings import SqsClosings
from console.incident.adapters.incidents import DynamoIncidents
from console.incident.parts import Parts


def connect(stack: str, region: str | None) -> Parts:
    """Find *stack* and return the parts that work on it. RelightError says what is missing."""
    with asking("connecting to AWS"):
        session = aws.session(region)
        found = CloudFormationStacks(session.client("cloudformation")).find(stack)
        return Parts(
            clusters=found.output("Clusters").split(","),
            incidents=DynamoIncidents(session.client("dynamodb"), found.output("IncidentsTable")),
            closings=SqsClosings(session.client("sqs"), found.output("DecisionsQueueUrl")),
            clock=_now,
            pause=time.sleep,
        )


def _now() -> datetime:
    return datetime.now(UTC)
