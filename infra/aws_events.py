"""What AWS itself says about instances and jobs: from the default bus into the `aws-events` queue.

Decides which events are taken in. Whose instance it is, is for `functions/intake` to find out: most of these events
carry no tag and no group.
"""

from typing import Any

from constructs import Construct

from infra.lanes import Lanes
from infra.rules import Rule
from infra.settings import Deployment

# Source and detail-types as the services send them. Capacity Blocks: revisions of the EC2 user guide ("Monitor Capacity
# Blocks using EventBridge") disagree about the name of the expiration warning, so both are taken.
EC2 = (
    "EC2 Instance State-change Notification",
    "EC2 Spot Instance Interruption Warning",
    "EC2 Instance Rebalance Recommendation",
    "EC2 Capacity Reservation Instance Interruption Warning",
    "Capacity Block Reservation Expiration Warning",
    "Capacity Block Expiration Warning",
)
HEALTH = ("AWS Health Event",)
AUTO_SCALING = ("EC2 Instance-launch Lifecycle Action", "EC2 Instance-terminate Lifecycle Action")
SAGEMAKER = (
    "SageMaker Training Job State Change",
    "SageMaker HyperPod Cluster Node Health Event",
    "SageMaker HyperPod Cluster Event",
    "SageMaker HyperPod Cluster State Change",
)


class AwsEvents(Construct):
    """One rule a service, each allowed to send to the queue by its own ARN."""

    def __init__(self, scope: Construct, construct_id: str, lanes: Lanes, deployment: Deployment) -> None:
        """Create the rules."""
        super().__init__(scope, construct_id)
        for name, pattern in patterns(deployment).items():
            rule = Rule(
                self,
                name,
                description=f"{name} events for intake",
                pattern=pattern,
                target_arn=lanes.aws_events.queue_arn,
                undelivered=lanes.undelivered,
            )
            rule.may_send_to(lanes.aws_events)


def patterns(deployment: Deployment) -> dict[str, dict[str, Any]]:
    """Return the patterns by service; lifecycle hooks only of the groups that are ours."""
    groups = sorted({group for cluster in deployment.clusters for group in cluster.auto_scaling_groups})
    found: dict[str, dict[str, Any]] = {
        "Ec2": {"source": ["aws.ec2"], "detail-type": list(EC2)},
        "Health": {"source": ["aws.health"], "detail-type": list(HEALTH), "detail": {"service": ["EC2"]}},
        "SageMaker": {"source": ["aws.sagemaker"], "detail-type": list(SAGEMAKER)},
    }
    if groups:
        detail = {"AutoScalingGroupName": groups}
        found["AutoScaling"] = {"source": ["aws.autoscaling"], "detail-type": list(AUTO_SCALING), "detail": detail}
    return found
