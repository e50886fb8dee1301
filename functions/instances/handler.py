"""Wires the instances executor to EC2, Auto Scaling and DynamoDB."""

import os
from datetime import UTC, datetime
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from functions.acts.executor import Executor
from functions.adapters.acts import DynamoDBActStore, DynamoDBLeaseReader
from functions.adapters.dynamodb_claims import DynamoClaims
from functions.adapters.ec2_instances import Ec2Instances
from functions.instances.fence import FenceNode
from functions.instances.replace import ReplaceNode
from functions.instances.settings import Settings
from policies.contract.rungs import Rung

# The function has sixty seconds: a call that hangs must leave time for the next try.
_CLIENT = Config(connect_timeout=2, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 3})


@cache
def wired() -> Executor:
    """Return the executor with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    dynamodb = boto3.client("dynamodb", config=_CLIENT)
    instances = Ec2Instances(boto3.client("ec2", config=_CLIENT), boto3.client("autoscaling", config=_CLIENT))
    claims = DynamoClaims(dynamodb, settings.incidents_table)
    return Executor(
        acts={
            Rung.FENCE_NODE: FenceNode(instances=instances, pace=settings.pace),
            Rung.REPLACE_NODE: ReplaceNode(instances=instances, claims=claims, pace=settings.pace),
        },
        incidents=DynamoDBActStore(dynamodb, settings.incidents_table),
        leases=DynamoDBLeaseReader(dynamodb, settings.fleet_table),
        clusters=settings.clusters,
        clock=lambda: datetime.now(UTC),
    )


def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Carry out one rung; answer how far it is."""
    return wired().run(event)
