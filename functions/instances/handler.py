"""Wires the instances executor to EC2, Auto Scaling and DynamoDB."""

import os
from datetime import UTC, datetime
from functools import cache
from typing import Any

import boto3

from functions.acts.act import Act
from functions.acts.executor import Executor
from functions.acts.wiring import executor_of
from functions.adapters.dynamodb_claims import DynamoClaims
from functions.adapters.ec2_instances import Ec2Instances
from functions.adapters.seen import DynamoSeen
from functions.clients import bounded
from functions.instances.fence import FenceNode
from functions.instances.replace import ReplaceNode
from functions.instances.settings import Settings
from policies.contract.rungs import Rung

_CLIENT = bounded()


@cache
def wired() -> Executor:
    """Return the executor with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    dynamodb = boto3.client("dynamodb", config=_CLIENT)
    instances = Ec2Instances(boto3.client("ec2", config=_CLIENT), boto3.client("autoscaling", config=_CLIENT))
    claims = DynamoClaims(dynamodb, settings.incidents_table)
    heartbeats = DynamoSeen(dynamodb, settings.fleet_table, lambda: datetime.now(UTC))
    acts: dict[Rung, Act] = {
        Rung.FENCE_NODE: FenceNode(instances=instances, heartbeats=heartbeats, pace=settings.pace),
        Rung.REPLACE_NODE: ReplaceNode(instances=instances, claims=claims, pace=settings.pace),
    }
    return executor_of(acts, settings, dynamodb)


def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Carry out one rung; answer how far it is."""
    return wired().run(event)
