"""What the functions that act may do: kubernetes, instances, checkpoints, sagemaker, evidence.

Whatever ends or starts something is allowed only on what carries the tag `relight:cluster` of a cluster of this
deployment. Describe calls of EC2 and Auto Scaling know no resource; they change nothing.
"""

from collections.abc import Sequence

from aws_cdk import Stack

from infra.buckets import Buckets
from infra.permissions import grants
from infra.settings import Cluster
from infra.tables import Tables

Statements = list[grants.Right]
# Why a resource holds a wildcard.
_TAGGED = "instances and jobs come and go; the condition on the tag relight:cluster bounds it"
_GROUPS = "an Auto Scaling group's ARN holds an id that nobody knows beforehand; name and tag bound it"
_RUNS = "a run's folder is named by whoever starts the run"
_JOBS = "reading training jobs changes nothing, and their names are not known beforehand"
_LOOK = ("ec2:DescribeInstances", "ec2:DescribeInstanceStatus")
_RECORDS = ("GetItem", "PutItem", "UpdateItem", "Query")


def _incident(tables: Tables, *more_keys: str) -> Statements:
    """Every executor reads the incident and its lease, and keeps its own acts."""
    return [
        grants.items("Fleet", tables.fleet, ("GetItem", "Query"), [grants.CLUSTER_KEYS]),
        grants.items("Incidents", tables.incidents, _RECORDS, [grants.INCIDENT_KEYS, *more_keys]),
    ]


def kubernetes(stack: Stack, tables: Tables, clusters: Sequence[Cluster]) -> Statements:
    """Find the cluster's endpoint; what it may do inside is Kubernetes' to say (kubernetes/rbac.yaml)."""
    names = sorted({cluster.eks_cluster for cluster in clusters if cluster.eks_cluster})
    endpoints = [grants.arn(stack, "eks", "cluster", name) for name in names]
    resume = _objects(stack, clusters, "*relight-resume.json")
    return [
        *_incident(tables),
        *([grants.allow("Endpoints", ["eks:DescribeCluster"], endpoints)] if endpoints else []),
        grants.allow(
            "Describe", ["ec2:DescribeInstances", "ec2:DescribeInstanceStatus"], ["*"], why=grants.NO_RESOURCE
        ),
        *([grants.allow("ResumePoint", ["s3:GetObject", "s3:PutObject"], resume, why=_RUNS)] if resume else []),
    ]


def instances(stack: Stack, tables: Tables, clusters: Sequence[Cluster]) -> Statements:
    """Give an instance up and find its successor."""
    names = [cluster.name for cluster in clusters]
    groups = sorted({group for cluster in clusters for group in cluster.auto_scaling_groups})
    ours = grants.tagged(names)
    described = ("AutoScalingGroups", "AutoScalingInstances", "ScalingActivities")
    look = [*_LOOK, *(f"autoscaling:Describe{each}" for each in described)]
    statements = [
        *_incident(tables, grants.CLAIM_KEYS),
        grants.allow("Describe", look, ["*"], why=grants.NO_RESOURCE),
        grants.allow(
            "Fence",
            ["ec2:TerminateInstances", "ec2:StopInstances"],
            [grants.arn(stack, "ec2", "instance", "*")],
            ours,
            why=_TAGGED,
        ),
    ]
    if groups:
        arns = [
            grants.arn(stack, "autoscaling", "autoScalingGroup", f"*:autoScalingGroupName/{group}", colon=True)
            for group in groups
        ]
        statements.append(
            grants.allow("Replace", ["autoscaling:TerminateInstanceInAutoScalingGroup"], arns, ours, why=_GROUPS)
        )
    return statements


def checkpoints(stack: Stack, tables: Tables, clusters: Sequence[Cluster]) -> Statements:
    """Look through checkpoints: list and read, never write or delete."""
    return [*_incident(tables), *_look_at_checkpoints(stack, clusters)]


def sagemaker(stack: Stack, tables: Tables, clusters: Sequence[Cluster]) -> Statements:
    """Stop a training job of ours and start its successor, with the role that the cluster names and no other."""
    trained = [cluster for cluster in clusters if cluster.orchestrator == "sagemaker"]
    if not trained:
        return _incident(tables)
    names = [cluster.name for cluster in trained]
    jobs = [grants.arn(stack, "sagemaker", "training-job", "*")]
    asked: grants.Conditions = {"StringEquals": {f"aws:RequestTag/{grants.MANAGED_TAG}": names}}
    passed: grants.Conditions = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
    roles = sorted({cluster.sagemaker_role_arn for cluster in trained if cluster.sagemaker_role_arn})
    return [
        *_incident(tables),
        *_look_at_checkpoints(stack, trained),
        grants.allow("Look", ["sagemaker:DescribeTrainingJob", "sagemaker:ListTags"], jobs, why=_JOBS),
        grants.allow("Find", ["sagemaker:ListTrainingJobs"], ["*"], why=grants.NO_RESOURCE),
        grants.allow("Stop", ["sagemaker:StopTrainingJob"], jobs, grants.tagged(names), why=_TAGGED),
        grants.allow("Start", ["sagemaker:CreateTrainingJob", "sagemaker:AddTags"], jobs, asked, why=_TAGGED),
        grants.allow("Pass", ["iam:PassRole"], roles, passed),
    ]


def evidence(stack: Stack, tables: Tables, buckets: Buckets, clusters: Sequence[Cluster]) -> Statements:
    """Keep what dies with the instance: its console, its description."""
    names = [cluster.name for cluster in clusters]
    consoles = [grants.arn(stack, "ec2", "instance", "*")]
    return [
        *_incident(tables),
        grants.allow("Describe", ["ec2:DescribeInstances"], ["*"], why=grants.NO_RESOURCE),
        grants.allow("Console", ["ec2:GetConsoleOutput"], consoles, grants.tagged(names), why=_TAGGED),
        grants.allow(
            "Keep",
            ["s3:PutObject", "s3:GetObject"],
            [buckets.evidence.arn_for_objects("*")],
            why="an object is named by its incident",
        ),
    ]


def _look_at_checkpoints(stack: Stack, clusters: Sequence[Cluster]) -> Statements:
    buckets = [grants.bucket_arn(stack, bucket) for bucket in _buckets(clusters)]
    if not buckets:
        return []
    return [
        grants.allow("List", ["s3:ListBucket"], buckets),
        grants.allow("Read", ["s3:GetObject"], _objects(stack, clusters, "*"), why=_RUNS),
    ]


def _buckets(clusters: Sequence[Cluster]) -> list[str]:
    return sorted({bucket for cluster in clusters for bucket in cluster.checkpoint_buckets})


def _objects(stack: Stack, clusters: Sequence[Cluster], key: str) -> list[str]:
    return [grants.bucket_arn(stack, bucket, key) for bucket in _buckets(clusters)]
