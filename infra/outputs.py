"""What a deployer takes from the stack: names for settings files, and the policy that GPU nodes need.

It must not create anything but that policy. Keys are stable: `local/` and the README read them.
"""

from collections.abc import Mapping

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.answers import acknowledge
from infra.lanes import Lanes
from infra.permissions import grants
from infra.roles import wildcards
from infra.tables import Tables

# The ARN of the instance whose role asks: IAM fills it in (IAM user guide, "ec2:SourceInstanceArn": a key that is there
# in every service). Other credentials of the same role (IRSA, Pod Identity) have no such ARN, and no right here.
ITS_OWN_ARN = "${ec2:SourceInstanceARN}"
# S3 user guide, "Enforce conditional writes": what is there cannot be written over.
_ONLY_NEW: grants.Conditions = {"StringEquals": {"s3:if-none-match": "*"}}


def node_policy(scope: Construct, lanes: Lanes, tables: Tables, evidence: s3.Bucket) -> iam.ManagedPolicy:
    """Return the policy to attach to the instance role (or pod role) of GPU nodes: send, and ask whether one could.

    `relight agent check` asks. Stream and queue are encrypted with the services' own keys, so no right on a key is
    needed. Of the commands a node may see and answer those to itself. Of *evidence* it may write what is not there
    yet, below its own ARN, and read nothing.
    """
    faults = ["kinesis:PutRecord", "kinesis:DescribeStreamSummary"]
    overflow = ["sqs:SendMessage", "sqs:GetQueueAttributes"]
    kept = evidence.arn_for_objects(f"nodes/{ITS_OWN_ARN}/*")
    rights = [
        grants.allow("Faults", faults, [lanes.faults.stream_arn]),
        grants.allow("Overflow", overflow, [lanes.overflow.queue_arn]),
        grants.items("Commands", [tables.commands], ("Query", "UpdateItem"), [f"NODE#{ITS_OWN_ARN}"]),
        grants.allow("Evidence", ["s3:PutObject"], [kept], _ONLY_NEW, why="an object is named by boot and fault"),
    ]
    statements = [right.statement for right in rights]
    policy = iam.ManagedPolicy(
        scope, "NodePolicy", description="Relight: what the agent on a GPU node may do", statements=statements
    )
    acknowledge(policy, dict(wildcards(Stack.of(scope), rights)))
    document = {"Version": "2012-10-17", "Statement": [_plain(statement) for statement in statements]}
    tell(scope, NodePolicyArn=policy.managed_policy_arn, NodePolicyJson=Stack.of(scope).to_json_string(document))
    return policy


def tell(scope: Construct, **values: str) -> None:
    """Add one output each; the keyword is the output's key."""
    for name, value in values.items():
        CfnOutput(Stack.of(scope), name, value=value)


def tell_functions(scope: Construct, names: Mapping[str, str]) -> None:
    """Add ``TriageFunction`` and so on."""
    tell(scope, **{f"{name}Function": value for name, value in names.items()})


def _plain(statement: iam.PolicyStatement) -> dict[str, object]:
    plain: dict[str, object] = {"Effect": "Allow", "Action": statement.actions, "Resource": statement.resources}
    return plain | ({"Condition": statement.conditions} if statement.conditions else {})
