"""`relight node` on AWS: the only place here that makes clients."""

import time
from datetime import UTC, datetime

from console import aws
from console.dlq.adapters.asking import asking
from console.dlq.adapters.stacks import CloudFormationStacks
from console.node.adapters import DynamoNodeCommands, Ec2Names
from console.node.hands import DynamoHands
from console.node.parts import Parts
from policies.contract.commands.items import instance_arns, table_of


def connect(stack: str, region: str | None) -> Parts:
    """Find *stack* and return the parts that work on it. RelightError says what is missing."""
    with asking("connecting to AWS"):
        session = aws.session(region)
        found = CloudFormationStacks(session.client("cloudformation")).find(stack)
        table_arn = found.output("CommandsTableArn")
        dynamodb = session.client("dynamodb")
        return Parts(
            commands=DynamoNodeCommands(dynamodb, table_of(table_arn)[0]),
            names=Ec2Names(session.client("ec2")),
            instance_arns=instance_arns(table_arn),
            clock=_now,
            pause=time.sleep,
            hands=DynamoHands(dynamodb, found.output("FleetTable"), _now),
            clusters=found.output("Clusters").split(","),
        )


def _now() -> datetime:
    return datetime.now(UTC)
