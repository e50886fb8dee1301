"""Wires the evidence executor to EC2, S3 and DynamoDB."""

import os
from functools import cache
from typing import Any

import boto3

from functions.acts.act import Act
from functions.acts.executor import Executor
from functions.acts.wiring import executor_of
from functions.adapters.commands import DynamoDBCommands
from functions.adapters.ec2_instances import Ec2Instances
from functions.adapters.s3_objects import S3Objects
from functions.clients import bounded
from functions.evidence.collect import CollectEvidence
from functions.evidence.node_part import NodeEvidence
from functions.evidence.settings import Settings
from functions.nodes.asking import Asking
from policies.contract.rungs import Rung

_CLIENT = bounded()


@cache
def wired() -> Executor:
    """Return the executor with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    dynamodb = boto3.client("dynamodb", config=_CLIENT)
    instances = Ec2Instances(boto3.client("ec2", config=_CLIENT), boto3.client("autoscaling", config=_CLIENT))
    objects = S3Objects(boto3.client("s3", config=_CLIENT))
    bucket = settings.evidence_bucket
    commands = DynamoDBCommands(dynamodb, settings.commands_table)
    node = NodeEvidence(Asking(commands=commands, instance_arns=settings.instance_arns, pace=settings.pace))
    acts: dict[Rung, Act] = {
        Rung.COLLECT_EVIDENCE: CollectEvidence(instances=instances, objects=objects, bucket=bucket, node=node),
    }
    return executor_of(acts, settings, dynamodb)


def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Carry out one rung; answer how far it is."""
    return wired().run(event)
