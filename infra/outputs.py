"""What a deployer takes from the stack: names for settings files, and the policy that GPU nodes need.

It must not create anything but that policy. Keys are stable: `local/` and the README read them.
"""

from collections.abc import Mapping

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.lanes import Lanes
from infra.permissions import grants


def node_policy(scope: Construct, lanes: Lanes) -> iam.ManagedPolicy:
    """Return the policy to attach to the instance role (or pod role) of GPU nodes: send, and ask whether one could.

    `relight agent check` asks. Stream and queue are encrypted with the services' own keys, so no right on a key is
    needed.
    """
    faults = ["kinesis:PutRecord", "kinesis:DescribeStreamSummary"]
    overflow = ["sqs:SendMessage", "sqs:GetQueueAttributes"]
    rights = [
        grants.allow("Faults", faults, [lanes.faults.stream_arn]),
        grants.allow("Overflow", overflow, [lanes.overflow.queue_arn]),
    ]
    statements = [right.statement for right in rights]
    policy = iam.ManagedPolicy(
        scope, "NodePolicy", description="Relight: what the agent on a GPU node may do", statements=statements
    )
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
    return {"Effect": "Allow", "Action": statement.actions, "Resource": statement.resources}
