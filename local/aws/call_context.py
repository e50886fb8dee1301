"""What IAM conditions may ask of a call: leading keys of items, tags of resource and request, whose credentials.

Best effort: it reads the request and, for tags and key names, moto's own state.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from moto.autoscaling.models import autoscaling_backends
from moto.dynamodb.models import dynamodb_backends
from moto.ec2.models import ec2_backends
from moto.sagemaker.models import sagemaker_backends

from local.aws import backends
from local.aws.calls import Call
from local.aws.recorder_types import Context

_EQUALITY = re.compile(r"([#\w.]+)\s*=\s*(:\w+)")


def context_of(call: Call, touched: tuple[str, ...]) -> Context:
    """Condition keys and their values, sorted."""
    found: dict[str, set[str]] = {}
    if call.session.startswith("i-"):  # IAM user guide, ec2:SourceInstanceARN: with an instance's own credentials
        found["ec2:SourceInstanceARN"] = {f"arn:aws:ec2:{call.region}:{backends.ACCOUNT}:instance/{call.session}"}
    if call.service == "dynamodb":
        keys = set(_leading_keys(call))
        if keys:
            found["dynamodb:LeadingKeys"] = keys
    for name, value in _request_tags(call.parameters):
        found.setdefault(f"aws:RequestTag/{name}", set()).add(value)
        found.setdefault("aws:TagKeys", set()).add(name)
    for arn in touched:
        for name, value in _resource_tags(arn, call.region):
            found.setdefault(f"aws:ResourceTag/{name}", set()).add(value)
    return tuple(sorted((key, tuple(sorted(values))) for key, values in found.items()))


def _request_tags(parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    tags = parameters.get("Tags")
    if isinstance(tags, list):
        yield from (
            (tag["Key"], tag["Value"]) for tag in tags if isinstance(tag, dict) and {"Key", "Value"} <= set(tag)
        )


def _resource_tags(arn: str, region: str) -> Iterator[tuple[str, str]]:
    if ":ec2:" in arn and ":instance/" in arn:
        tags = ec2_backends[backends.ACCOUNT][region].describe_tags(filters={"resource-id": [arn.rsplit("/", 1)[-1]]})
        yield from ((tag["key"], tag["value"]) for tag in tags)
    elif ":autoScalingGroupName/" in arn:
        group = autoscaling_backends[backends.ACCOUNT][region].autoscaling_groups.get(arn.rsplit("/", 1)[-1])
        yield from ((tag["Key"], tag["Value"]) for tag in (group.tags if group else []))
    elif ":training-job/" in arn:
        jobs: Any = sagemaker_backends[backends.ACCOUNT][region].training_jobs
        job = jobs.get(arn.rsplit("/", 1)[-1])
        yield from ((tag["Key"], tag["Value"]) for tag in (job.tags if job else None) or [])


def _leading_keys(call: Call) -> Iterator[str]:
    for table, part in _parts(call.parameters):
        attribute = _hash_key(table, part.get("IndexName"), call.region)
        key = part.get("Key") or part.get("Item") or {}
        if attribute in key:
            yield _text(key[attribute])
        elif "KeyConditionExpression" in part and attribute:
            yield from _queried(part, attribute)


def _parts(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables and keys in any of DynamoDB's item operations."""
    if "TableName" in parameters:
        yield parameters["TableName"], parameters
    for item in parameters.get("TransactItems", []):
        yield from ((part["TableName"], part) for part in item.values())
    for table, request in (parameters.get("RequestItems") or {}).items():
        if isinstance(request, Mapping):
            yield from ((table, {"Key": key}) for key in request.get("Keys", []))
        else:
            yield from ((table, part) for write in request for part in write.values())


def _hash_key(table_name: str, index_name: str | None, region: str) -> str | None:
    name = table_name.rsplit("/", 1)[-1]
    table: Any = dynamodb_backends[backends.ACCOUNT][region].tables.get(name)
    if table is None:
        return None
    if index_name is None:
        return str(table.hash_key_attr)
    for index in [*table.global_indexes, *table.indexes]:
        if index.name == index_name:
            return str(next(key["AttributeName"] for key in index.schema if key["KeyType"] == "HASH"))
    return None


def _queried(part: Mapping[str, Any], attribute: str) -> Iterator[str]:
    names = part.get("ExpressionAttributeNames") or {}
    values = part.get("ExpressionAttributeValues") or {}
    for name, value in _EQUALITY.findall(part["KeyConditionExpression"]):
        if names.get(name, name) == attribute and value in values:
            yield _text(values[value])


def _text(value: Mapping[str, Any]) -> str:
    return str(next(iter(value.values())))
