"""Wires the Kubernetes executor to EKS, EC2, S3 and DynamoDB."""

import os
from datetime import UTC, datetime
from functools import cache
from typing import Any

import boto3

from functions.acts.act import Act
from functions.acts.executor import Executor
from functions.acts.wiring import executor_of
from functions.adapters.ec2_instances import Ec2Instances
from functions.adapters.eks_clusters import EksClusters
from functions.adapters.s3_objects import S3Objects
from functions.adapters.seen import DynamoSeen
from functions.clients import bounded
from functions.kubernetes.isolate import Isolate
from functions.kubernetes.release import ReleaseNode
from functions.kubernetes.resume import ResumeJob
from functions.kubernetes.settings import Settings
from functions.kubernetes.suspend import SuspendJob
from functions.kubernetes.verify import VerifyNode
from functions.kubernetes.witness import Witness
from policies.contract.rungs import Rung

_CLIENT = bounded()


@cache
def wired() -> Executor:
    """Return the executor with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    dynamodb = boto3.client("dynamodb", config=_CLIENT)
    instances = Ec2Instances(boto3.client("ec2", config=_CLIENT), boto3.client("autoscaling", config=_CLIENT))
    connect = EksClusters(boto3.client("eks", config=_CLIENT), boto3.client("sts", config=_CLIENT))
    objects = S3Objects(boto3.client("s3", config=_CLIENT))
    heartbeats = DynamoSeen(dynamodb, settings.fleet_table, lambda: datetime.now(UTC))
    pace = settings.pace
    acts: dict[Rung, Act] = {
        Rung.ISOLATE: Isolate(connect=connect, witness=Witness(instances, heartbeats, pace)),
        Rung.SUSPEND_JOB: SuspendJob(connect=connect, instances=instances, pace=pace),
        Rung.VERIFY_NODE: VerifyNode(connect=connect, instances=instances, heartbeats=heartbeats, pace=pace),
        Rung.RELEASE_NODE: ReleaseNode(connect=connect),
        Rung.RESUME_JOB: ResumeJob(connect=connect, objects=objects),
    }
    return executor_of(acts, settings, dynamodb)


def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Carry out one rung; answer how far it is."""
    return wired().run(event)
