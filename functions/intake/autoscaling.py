"""Auto Scaling about instances it waits with: lifecycle hooks, through EventBridge or straight from the group.

A test notification is acknowledged, never acted on.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from functions.intake.notice import AwsEvent, Instance, Notice
from policies.contract.base import Model
from policies.contract.vocabulary import Kind, Severity, Source

# Straight from the group (also as text in .Message of an SNS notification):
# {"LifecycleHookName": "test-nth-asg-to-sqs", "RequestId": "3775fac9-93c3-7ead-8713-111122223333",
#  "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING", "AutoScalingGroupName": "my-asg",
#  "Time": "2022-01-31T23:07:47.872Z", "EC2InstanceId": "i-040107f6ba000e5ee",
#  "LifecycleActionToken": "b4dd0f5b-0ef2-4479-9dad-6c55f027000e"}
# and, when a hook is made, the same with
# {"Event": "autoscaling:TEST_NOTIFICATION", "LifecycleTransition": "autoscaling:TEST_NOTIFICATION"}
TEST = "autoscaling:TEST_NOTIFICATION"


def is_direct(body: Mapping[str, Any]) -> bool:
    """Whether *body* came straight from a group: it has no envelope of EventBridge."""
    return "detail-type" not in body and ("LifecycleTransition" in body or body.get("Event") == TEST)


def is_test(body: Mapping[str, Any]) -> bool:
    """Whether *body* only says that a hook was made."""
    return TEST in {body.get("Event"), body.get("LifecycleTransition")}


def direct(body: Mapping[str, Any]) -> AwsEvent:
    """Return *body* as EventBridge would have sent it. Its token is its id: each action has one."""
    return AwsEvent.model_validate(
        {
            "id": body.get("LifecycleActionToken"),
            "source": "aws.autoscaling",
            "detail-type": "EC2 Instance Lifecycle Action",
            "time": body.get("Time"),
            "detail": dict(body),
        }
    )


# {"id": "782d5b4c-0f6f-1fd6-9d62-ecf6aed0a470", "detail-type": "EC2 Instance-terminate Lifecycle Action",
#  "source": "aws.autoscaling", "time": "2020-07-01T22:19:58Z",
#  "resources": ["arn:aws:autoscaling:…:autoScalingGroupName/nth-test1"],
#  "detail": {"LifecycleActionToken": "0befcbdb-6ecd-498a-9ff7-ae9b54447cd6", "AutoScalingGroupName": "nth-test1",
#             "LifecycleHookName": "node-termination-handler", "EC2InstanceId": "i-0633ac2b0d9769723",
#             "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"}}
class _Action(Model):
    token: str = Field(alias="LifecycleActionToken")
    group: str = Field(alias="AutoScalingGroupName")
    hook: str = Field(alias="LifecycleHookName")
    instance_id: str = Field(alias="EC2InstanceId", pattern=r"^i-[0-9a-f]{8,17}$")
    transition: Literal["autoscaling:EC2_INSTANCE_LAUNCHING", "autoscaling:EC2_INSTANCE_TERMINATING"] = Field(
        alias="LifecycleTransition"
    )


def lifecycle_action(event: AwsEvent) -> tuple[Notice, ...]:
    """A group that takes an instance away is another actor at work: a warning, the group's own business."""
    action = _Action.model_validate(event.detail)
    leaving = action.transition.endswith("TERMINATING")
    return (
        Notice(
            key=action.token,
            subject=Instance(action.instance_id),
            kind=Kind.INSTANCE_LIFECYCLE_HOOK,
            severity=Severity.WARNING if leaving else Severity.INFO,
            source=Source.AUTOSCALING,
            observed_at=event.time,
            attributes={
                "transition": "terminating" if leaving else "launching",
                "group": action.group,
                "hook": action.hook,
            },
            message=f"{action.group} {'terminates' if leaving else 'launches'} {action.instance_id}",
        ),
    )
