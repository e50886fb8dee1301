"""What tasks put into the state is JSON, and errors of `aws-sdk` tasks have the names that a Catch looks for.

moto leaves datetimes of a response in the state, which breaks the next state and DescribeExecution, and calls an error
of a service `ec2.ec2Exception` where AWS says `Ec2.Ec2Exception`.
"""

import datetime as dt
import decimal
import json
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import (
    state_task_service_aws_sdk,
    state_task_service_dynamodb,
    state_task_service_events,
    state_task_service_sns,
    state_task_service_sqs,
)

from local.aws.patches.replacing import replace

# Names of the AWS SDK for Java, which Step Functions prefixes errors with ("AWS SDK service integrations").
_NAMES = {
    "autoscaling": "AutoScaling",
    "cloudwatch": "CloudWatch",
    "dynamodb": "DynamoDb",
    "eventbridge": "EventBridge",
    "sagemaker": "SageMaker",
}


def apply() -> None:
    sdk = state_task_service_aws_sdk.StateTaskServiceAwsSdk
    services = [
        sdk,
        state_task_service_dynamodb.StateTaskServiceDynamoDB,
        state_task_service_events.StateTaskServiceEvents,
        state_task_service_sns.StateTaskServiceSns,
        state_task_service_sqs.StateTaskServiceSqs,
    ]
    for service in services:
        replace(service, "_eval_service_task", _json_safe(service._eval_service_task))
    replace(sdk, "_normalise_service_error_name", staticmethod(service_name))


def service_name(name: str) -> str:
    """The prefix of a service's errors: `ec2` gives `Ec2`."""
    return _NAMES.get(name.lower(), name[:1].upper() + name[1:])


def _json_safe(original: Callable[..., None]) -> Callable[..., None]:
    def evaluate(self: Any, env: Any, *args: Any, **kwargs: Any) -> None:
        try:
            original(self, env, *args, **kwargs)
        except ClientError as error:
            error.response["ResponseMetadata"].setdefault("RequestId", "local")
            raise
        env.stack.append(json.loads(json.dumps(env.stack.pop(), default=_as_json)))

    return evaluate


def _as_json(value: object) -> Any:
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if hasattr(value, "read"):
        return value.read().decode()
    return str(value)
