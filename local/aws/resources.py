"""The ARNs a call is about, as far as its request names them. `*` where it names none.

What a resource is called in IAM comes from the Service Authorization Reference. Only for Auto Scaling it looks into
moto's state: a call names an instance, a grant names its group.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from moto.autoscaling.models import autoscaling_backends

from local.aws.calls import Call

_Reader = Callable[[Call, str], list[str]]


def touched(call: Call, account: str) -> tuple[str, ...]:
    """Resource ARNs of a call, sorted; `("*",)` when the request names none."""
    reader = _READERS.get(call.service)
    found = reader(call, account) if reader else []
    return tuple(sorted(set(found))) or ("*",)


def _arn(service: str, call: Call, account: str, resource: str) -> str:
    return resource if resource.startswith("arn:") else f"arn:aws:{service}:{call.region}:{account}:{resource}"


def _dynamodb(call: Call, account: str) -> list[str]:
    parameters = call.parameters
    if "StreamArn" in parameters:
        return [str(parameters["StreamArn"])]
    names = list(_table_names(parameters))
    index = parameters.get("IndexName")
    suffix = f"/index/{index}" if index else ""
    arns = [name if name.startswith("arn:") else _arn("dynamodb", call, account, f"table/{name}") for name in names]
    return [arn + suffix for arn in arns]


def _table_names(parameters: dict[str, Any]) -> list[str]:
    if "TableName" in parameters:
        return [parameters["TableName"]]
    if "RequestItems" in parameters:
        return list(parameters["RequestItems"])
    return [part["TableName"] for item in parameters.get("TransactItems", []) for part in item.values()]


def _sqs(call: Call, account: str) -> list[str]:
    parameters = call.parameters
    arns = [parameters[key] for key in ("SourceArn", "DestinationArn") if key in parameters]
    url = parameters.get("QueueUrl")
    name = url.rsplit("/", 1)[-1] if url else parameters.get("QueueName")
    return [*arns, _arn("sqs", call, account, name)] if name else arns


def _kinesis(call: Call, account: str) -> list[str]:
    parameters = call.parameters
    if "StreamARN" in parameters:
        return [parameters["StreamARN"]]
    name = parameters.get("StreamName")
    return [_arn("kinesis", call, account, f"stream/{name}")] if name else []


def _s3(call: Call, _account: str) -> list[str]:
    bucket, _, key = unquote(call.path).lstrip("/").partition("/")
    if not bucket:
        return []
    return [f"arn:aws:s3:::{bucket}/{key}" if key else f"arn:aws:s3:::{bucket}"]


def _lambda(call: Call, account: str) -> list[str]:
    parts = unquote(call.path).split("/functions/")
    if len(parts) < 2:  # noqa: PLR2004 - before and after
        return []
    name = parts[1].split("/")[0]
    return [name if name.startswith("arn:") else _arn("lambda", call, account, f"function:{name}")]


def _events(call: Call, account: str) -> list[str]:
    buses = [entry.get("EventBusName", "default") for entry in call.parameters.get("Entries", [])]
    return [bus if bus.startswith("arn:") else _arn("events", call, account, f"event-bus/{bus}") for bus in buses]


def _states(call: Call, _account: str) -> list[str]:
    parameters = call.parameters
    return [parameters[key] for key in ("stateMachineArn", "executionArn") if key in parameters]


def _sns(call: Call, _account: str) -> list[str]:
    return [call.parameters[key] for key in ("TopicArn", "TargetArn") if key in call.parameters]


def _ec2(call: Call, account: str) -> list[str]:
    if call.operation.startswith("Describe"):  # no resource-level permissions
        return []
    ids = [value for key, value in call.parameters.items() if key.startswith(("InstanceId", "ResourceId"))]
    return [_arn("ec2", call, account, f"instance/{identifier}") for identifier in ids if identifier.startswith("i-")]


def _autoscaling(call: Call, account: str) -> list[str]:
    backend: Any = autoscaling_backends[account][call.region]
    names = {value for key, value in call.parameters.items() if key.startswith("AutoScalingGroupName")}
    instances = {value for key, value in call.parameters.items() if key.startswith("InstanceId")}
    if call.operation.startswith("Describe"):  # no resource-level permissions
        return []
    return [
        group.arn
        for group in backend.autoscaling_groups.values()
        if group.name in names or any(state.instance.id in instances for state in group.instance_states)
    ]


def _eks(call: Call, account: str) -> list[str]:
    name = call.path.rpartition("/clusters/")[2].split("/")[0]
    return [_arn("eks", call, account, f"cluster/{name}")] if name else []


def _sagemaker(call: Call, account: str) -> list[str]:
    arn, name = call.parameters.get("ResourceArn"), call.parameters.get("TrainingJobName")
    if arn:  # ListTags, AddTags
        return [str(arn)]
    return [_arn("sagemaker", call, account, f"training-job/{name}")] if name else []


_READERS: dict[str, _Reader] = {
    "autoscaling": _autoscaling,
    "dynamodb": _dynamodb,
    "ec2": _ec2,
    "eks": _eks,
    "events": _events,
    "kinesis": _kinesis,
    "lambda": _lambda,
    "s3": _s3,
    "sagemaker": _sagemaker,
    "sns": _sns,
    "sqs": _sqs,
    "states": _states,
}
