"""Wires the sweep to SQS, Kinesis, DynamoDB and EC2."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

import boto3

from functions.adapters.acts import DynamoDBLeaseReader
from functions.adapters.capacity import Ec2Capacity
from functions.adapters.ec2_instances import Ec2Instances
from functions.adapters.facts import DynamoFacts
from functions.adapters.kinesis_faults import KinesisFaults
from functions.adapters.seen import DynamoSeen
from functions.adapters.sqs_sweeps import SqsSweeps
from functions.clients import bounded
from functions.sweep.capacity_look import CapacityLook
from functions.sweep.look import Lookout
from functions.sweep.settings import Settings
from functions.sweep.sweep import sweep

_CLIENT = bounded()
_ASKING_CLIENT = bounded(connect_seconds=1, read_seconds=4, tries=2)  # of many small questions none may use up the time


@cache
def wired() -> Callable[[], None]:
    """Return the sweep with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    dynamodb = boto3.client("dynamodb", config=_CLIENT)
    clock = partial(datetime.now, UTC)
    faults = KinesisFaults(boto3.client("kinesis", config=_CLIENT), settings.faults_stream)
    lookout = Lookout(
        signs=DynamoSeen(dynamodb, settings.fleet_table, clock),
        instances=Ec2Instances(boto3.client("ec2", config=_CLIENT), boto3.client("autoscaling", config=_CLIENT)),
        leases=DynamoDBLeaseReader(dynamodb, settings.fleet_table),
        faults=faults,
        patience=settings.patience,
    )
    capacity = CapacityLook(
        view=Ec2Capacity(
            boto3.client("ec2", config=_ASKING_CLIENT), boto3.client("autoscaling", config=_ASKING_CLIENT)
        ),
        facts=DynamoFacts(dynamodb, settings.fleet_table),
        clock=clock,
    )
    return partial(
        sweep,
        clusters=settings.clusters,
        sweeps=SqsSweeps(boto3.client("sqs", config=_CLIENT), settings.decisions_queue_url),
        faults=faults,
        lookout=lookout,
        capacity=capacity,
        clock=clock,
    )


def handle(event: dict[str, Any], context: object) -> None:
    """Sweep once, whatever the schedule's event says."""
    wired()()
