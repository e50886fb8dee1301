"""Forms of IAM statements, so that each function's rights read as a list.

It must not know which function asks. Every form names its resource; where AWS knows no resource, it says so by name.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kinesis as kinesis
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

# Instances, groups and training jobs that Relight may touch carry this tag, its value is the cluster's name. Nobody but
# whoever deploys the cluster should be able to change it.
MANAGED_TAG = "relight:cluster"

CLUSTER_KEYS = "CLUSTER#*"
REJECT_KEYS = "REJECTS#*"
INCIDENT_KEYS = "INCIDENT#*"
CLAIM_KEYS = "INSTANCE#*"
NODE_KEYS = "NODE#*"
SHADOW_KEYS = "#shadow#*"
NOTICE_KEYS = "NOTICE#*"
CALL_KEYS = "#call#*"


NO_RESOURCE = "AWS knows no resource for this call"


@dataclass(frozen=True)
class Right:
    """One Allow, and why its resource holds a wildcard, if it does: that answers cdk-nag."""

    statement: iam.PolicyStatement
    why: str = ""


Conditions = dict[str, dict[str, object]]


def allow(
    sid: str, actions: Sequence[str], resources: Sequence[str], conditions: Conditions | None = None, *, why: str = ""
) -> Right:
    """Return one Allow; *why* says why there is a wildcard in *resources*."""
    statement = iam.PolicyStatement(sid=sid, actions=list(actions), resources=list(resources), conditions=conditions)
    return Right(statement, why)


def allow_if(
    sid: str, actions: Sequence[str], resources: Sequence[str], conditions: Conditions | None = None, *, why: str = ""
) -> list[Right]:
    """Return one Allow, or none when there is nothing to allow it on."""
    return [allow(sid, actions, resources, conditions, why=why)] if resources else []


def items(sid: str, tables: Sequence[dynamodb.Table], verbs: Sequence[str], keys: Sequence[str] = ()) -> Right:
    """Allow *verbs* (``GetItem``) on items of *tables*, only in partitions like *keys* when there are any.

    Tables that are read in one call share a statement: the keys of a call are those of all its tables.
    """
    condition: Conditions = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(keys)}}
    arns = [table.table_arn for table in tables]
    return allow(sid, [f"dynamodb:{verb}" for verb in verbs], arns, condition if keys else None)


def index(sid: str, table: dynamodb.Table, name: str) -> Right:
    """Allow queries on one index of *table*."""
    return allow(sid, ["dynamodb:Query"], [f"{table.table_arn}/index/{name}"])


def changes(sid: str, table: dynamodb.Table) -> list[Right]:
    """Let a mapping read the stream of *table*. ListStreams knows no resource."""
    stream = table.table_stream_arn
    assert stream is not None
    read = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"]
    return [allow(sid, read, [stream]), allow(f"{sid}List", ["dynamodb:ListStreams"], ["*"], why=NO_RESOURCE)]


def consume(sid: str, queue: sqs.IQueue) -> Right:
    """Let a mapping take messages from *queue*."""
    actions = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]
    return allow(sid, actions, [queue.queue_arn])


def send(sid: str, queue: sqs.IQueue) -> Right:
    """Allow sending to *queue*."""
    return allow(sid, ["sqs:SendMessage"], [queue.queue_arn])


def read_stream(sid: str, stream: kinesis.Stream) -> Right:
    """Let a mapping read *stream*."""
    verbs = ["DescribeStream", "DescribeStreamSummary", "GetRecords", "GetShardIterator", "ListShards"]
    return allow(sid, [f"kinesis:{verb}" for verb in verbs], [stream.stream_arn])


def put_records(sid: str, stream: kinesis.Stream) -> Right:
    """Allow putting records on *stream*; its key is the service's own, which needs no right."""
    return allow(sid, ["kinesis:PutRecords"], [stream.stream_arn])


def keep_dropped(bucket: s3.Bucket, prefix: str) -> list[Right]:
    """Let a mapping put a batch it gave up into *bucket* (Lambda developer guide: PutObject and ListBucket)."""
    return [
        allow(
            "KeepDropped",
            ["s3:PutObject"],
            [bucket.arn_for_objects(f"{prefix}*")],
            why="a mapping names its own objects",
        ),
        allow("KeepDroppedList", ["s3:ListBucket"], [bucket.bucket_arn]),
    ]


def tagged(clusters: Sequence[str]) -> Conditions:
    """Return the condition that the resource carries the tag of one of *clusters*."""
    return {"StringEquals": {f"aws:ResourceTag/{MANAGED_TAG}": list(clusters)}}


def arn(stack: Stack, service: str, resource: str, name: str, *, colon: bool = False) -> str:
    """Return the ARN of something of this account and region."""
    form = ArnFormat.COLON_RESOURCE_NAME if colon else ArnFormat.SLASH_RESOURCE_NAME
    return stack.format_arn(service=service, resource=resource, resource_name=name, arn_format=form)


def bucket_arn(stack: Stack, bucket: str, key: str = "") -> str:
    """Return the ARN of a bucket that is not ours, or of its objects like *key*."""
    return f"arn:{stack.partition}:s3:::{bucket}{'/' if key else ''}{key}"
