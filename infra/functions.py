"""One Lambda function with what is its own: role, log group, size. They are listed in `catalog.py`.

Decides what all functions have in common. It must not know what a function does or may do: its statements come in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Duration, Token
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra import assets, roles
from infra.log_groups import log_group
from infra.permissions import grants
from infra.permissions.grants import Right
from infra.settings import DeploymentError, LogDays, Network

METRICS_NAMESPACE = "Relight"
_ENVIRONMENT_LIMIT_BYTES = 4096  # Lambda quotas, "Environment variables": all of them together
# For the network interfaces of a function in a VPC; none of them takes a resource (Lambda developer guide, VPC).
_INTERFACES = (
    "ec2:CreateNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:DeleteNetworkInterface",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
)


@dataclass(frozen=True)
class Size:
    """How long one invocation may take and how much memory it gets (the processor's share grows with it)."""

    seconds: int
    megabytes: int = 512


@dataclass(frozen=True)
class Plan:
    """What one function is: the folder below `functions/` that holds its handler, its size, rights and settings."""

    folder: str
    size: Size
    rights: Sequence[Right]
    environment: Mapping[str, str]
    dead_letters: sqs.IQueue | None = None  # for asynchronous invocations only
    network: Network | None = None


@dataclass(frozen=True)
class Shared:
    """What all functions share."""

    code: lambda_.Code
    layer: lambda_.ILayerVersion | None
    log_days: LogDays


class Function(Construct):
    """A function, its log group and its role. The role's statements are written by hand and nothing adds to them."""

    def __init__(self, scope: Construct, construct_id: str, plan: Plan, shared: Shared) -> None:
        """Create the three. No concurrency is reserved: the account's pool is shared, mappings bound themselves."""
        super().__init__(scope, construct_id)
        self.log_group = log_group(self, shared.log_days)
        self.role = roles.role(
            self, "lambda.amazonaws.com", f"Relight: functions/{plan.folder}", [*self._common(plan), *plan.rights]
        )
        self.function = lambda_.Function(
            self,
            "Function",
            runtime=assets.RUNTIME,
            architecture=assets.ARCHITECTURE,
            code=shared.code,
            handler=f"functions.{plan.folder}.handler.handle",
            layers=[shared.layer] if shared.layer else None,
            role=self.role.without_policy_updates(),
            log_group=self.log_group,
            timeout=Duration.seconds(plan.size.seconds),
            memory_size=plan.size.megabytes,
            environment=self._environment(plan),
            dead_letter_queue=plan.dead_letters,
            description=f"Relight: functions/{plan.folder}",
        )
        if plan.network:
            self._join(plan.network)

    def _common(self, plan: Plan) -> list[Right]:
        """Write its logs; metrics travel in them. Tracing is off: incidents keep their own timeline, item by item."""
        write = ["logs:CreateLogStream", "logs:PutLogEvents"]
        common = [grants.allow("Logs", write, [self.log_group.log_group_arn])]
        if plan.dead_letters:
            common.append(grants.send("DeadLetters", plan.dead_letters))
        if plan.network:
            common.append(grants.allow("Interfaces", _INTERFACES, ["*"], why=grants.NO_RESOURCE))
        return common

    def _environment(self, plan: Plan) -> dict[str, str]:
        variables = {
            **plan.environment,
            "POWERTOOLS_SERVICE_NAME": plan.folder,
            "POWERTOOLS_METRICS_NAMESPACE": METRICS_NAMESPACE,
        }
        used = sum(len(name) + _length(value) for name, value in variables.items())
        if used > _ENVIRONMENT_LIMIT_BYTES:
            raise DeploymentError(
                f"functions/{plan.folder} would get {used} bytes of environment, more than Lambda's"
                f" {_ENVIRONMENT_LIMIT_BYTES}. Split the clusters over accounts or regions."
            )
        return variables

    def _join(self, network: Network) -> None:
        resource = self.function.node.default_child
        assert isinstance(resource, lambda_.CfnFunction)
        resource.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
            subnet_ids=list(network.subnets), security_group_ids=list(network.security_groups)
        )


def _length(value: str) -> int:
    """Return how long *value* will be; what CloudFormation fills in (a name, an address, an ARN) is taken as 150."""
    return 150 if Token.is_unresolved(value) else len(value)
