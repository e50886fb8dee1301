"""What the functions that act may do: kubernetes, instances, checkpoints, sagemaker, evidence, nodes.

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
_GROUP_LOOK = (
    "autoscaling:DescribeAutoScalingGroups",
    "autoscaling:DescribeAutoScalingInstances",
    "autoscaling:DescribeScalingActivities",
)


def _incident(tables: Tables, *more_keys: str) -> Statements:
    """Every executor reads the incident and its lease, and keeps its own acts."""
    keys = [grants.INCIDENT_KEYS, *more_keys]
    return [
        grants.items("Fleet", [tables.fleet], ("GetItem",), [grants.CLUSTER_KEYS]),
        grants.items("Incidents", [tables.incidents], ("GetItem", "PutItem", "Query"), keys),
    ]


def kubernetes(stack: Stack, tables: Tables, clusters: Sequence[Cluster]) -> Statements:
    """Find the cluster's endpoint; what it may do inside is Kubernetes' to say (kubernetes/rbac.yaml)."""
    names = sorted({cluster.eks_cluster for cluster in clusters if cluster.eks_cluster})
    endpoints = [grants.arn(stack, "eks", "cluster", name) for name in names]
    pointers = _objects(stack, clusters, "*relight-resume.json")
    return [
        *_incident(tables),
        grants.allow("Describe", _LOOK, ["*"], why=grants.NO_RESOURCE),
        *grants.allow_if("Endpoints", ["eks:DescribeCluster"], endpoints),
        *grants.allow_if("Pointer", ["s3:GetObject", "s3:PutObject"], pointers, why=_RUNS),
        *grants.allow_if("Keys", ["kms:Decrypt", "kms:GenerateDataKey"], _keys(clusters)),
    ]


def instances(stack: Stack, tables: Tables, clusters: Sequence[Cluster]) -> Statements:
    """Give an instance up to its group and find its successor; stop one that is in no group."""
    groups = sorted({group for cluster in clusters for group in cluster.auto_scaling_groups})
    ours = grants.tagged([cluster.name for cluster in clusters])
    owned = [
        grants.arn(stack, "autoscaling", "autoScalingGroup", f"*:autoScalingGroupName/{group}", colon=True)
        for group in groups
    ]
    hosts = [grants.arn(stack, "ec2", "instance", "*")]
    replace = ["autoscaling:TerminateInstanceInAutoScalingGroup"]
    return [
        *_incident(tables, grants.CLAIM_KEYS),
        grants.allow("Describe", (*_LOOK, *_GROUP_LOOK), ["*"], why=grants.NO_RESOURCE),
        grants.allow("Fence", ["ec2:StopInstances"], hosts, ours, why=_TAGGED),
        *grants.allow_if("Replace", replace, owned, ours, why=_GROUPS),
    ]


def checkpoints(stack: Stack, tables: Tables, clusters: Sequence[Cluster]) -> Statements:
    """Look through checkpoints: list and read, never write or delete."""
    return [*_incident(tables), *_read_checkpoints(stack, clusters)]


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
        *_read_checkpoints(stack, trained),
        grants.allow("Look", ["sagemaker:DescribeTrainingJob", "sagemaker:ListTags"], jobs, why=_JOBS),
        grants.allow("Stop", ["sagemaker:StopTrainingJob"], jobs, grants.tagged(names), why=_TAGGED),
        grants.allow("Start", ["sagemaker:CreateTrainingJob", "sagemaker:AddTags"], jobs, asked, why=_TAGGED),
        grants.allow("Pass", ["iam:PassRole"], roles, passed),
    ]


def evidence(stack: Stack, tables: Tables, buckets: Buckets, clusters: Sequence[Cluster]) -> Statements:
    """Keep what dies with the instance: its console, its description; ask its agent for what only the node knows."""
    hosts = [grants.arn(stack, "ec2", "instance", "*")]
    ours = grants.tagged([cluster.name for cluster in clusters])
    kept = [buckets.evidence.arn_for_objects("*")]
    return [
        *_incident(tables),
        grants.allow("Describe", ["ec2:DescribeInstances"], ["*"], why=grants.NO_RESOURCE),
        grants.allow("Console", ["ec2:GetConsoleOutput"], hosts, ours, why=_TAGGED),
        _commands(tables),
        grants.allow("Keep", ["s3:PutObject"], kept, why="an object is named by its incident"),
    ]


def nodes(tables: Tables) -> Statements:
    """Issue commands to nodes and follow them; what is done there is the node's own agent's right."""
    return [*_incident(tables), _commands(tables)]


def _commands(tables: Tables) -> grants.Right:
    return grants.items("Commands", [tables.commands], ("GetItem", "PutItem", "UpdateItem"), [grants.NODE_KEYS])


def _read_checkpoints(stack: Stack, clusters: Sequence[Cluster]) -> Statements:
    buckets = [grants.bucket_arn(stack, bucket) for bucket in _buckets(clusters)]
    return [
        *grants.allow_if("List", ["s3:ListBucket"], buckets),
        *grants.allow_if("Read", ["s3:GetObject"], _objects(stack, clusters, "*"), why=_RUNS),
        *grants.allow_if("Keys", ["kms:Decrypt"], _keys(clusters)),
    ]


def _buckets(clusters: Sequence[Cluster]) -> list[str]:
    return sorted({bucket for cluster in clusters for bucket in cluster.checkpoint_buckets})


def _objects(stack: Stack, clusters: Sequence[Cluster], key: str) -> list[str]:
    return [grants.bucket_arn(stack, bucket, key) for bucket in _buckets(clusters)]


def _keys(clusters: Sequence[Cluster]) -> list[str]:
    return sorted({key for cluster in clusters for key in cluster.checkpoint_key_arns})
