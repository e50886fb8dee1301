"""Reaching moto's backends inside the server process, without HTTP. The only place that knows where they live.

moto's own annotations are partial, so its objects are `Any` from here on.
"""

from typing import Any

from moto.awslambda.models import lambda_backends
from moto.dynamodb.models import dynamodb_backends
from moto.events.models import events_backends
from moto.kinesis.models import kinesis_backends
from moto.s3.models import s3_backends
from moto.sns.models import sns_backends
from moto.sqs.models import sqs_backends

from local.aws.errors import UnsupportedError

ACCOUNT = "123456789012"


def resource_of(arn: str) -> str:
    """The last part of an ARN: `table/name/stream/label`, `queue-name`, `function:name`."""
    return arn.split(":", 5)[5]


def _region_of(arn: str) -> str:
    return arn.split(":")[3]


def queue(arn: str) -> Any:
    return sqs_backends[ACCOUNT][_region_of(arn)].get_queue(resource_of(arn))


def queue_backend(region: str) -> Any:
    return sqs_backends[ACCOUNT][region]


def stream(arn: str) -> Any:
    return kinesis_backends[ACCOUNT][_region_of(arn)].describe_stream(arn, None)


def table_of_stream(arn: str) -> Any:
    return dynamodb_backends[ACCOUNT][_region_of(arn)].get_table(resource_of(arn).split("/")[1])


def lambda_backend(region: str) -> Any:
    return lambda_backends[ACCOUNT][region]


def function(name_or_arn: str, region: str) -> Any:
    """The function (or version) behind a name, an ARN or an alias."""
    return lambda_backends[ACCOUNT][region].get_function(name_or_arn)


def topic_backend(region: str) -> Any:
    return sns_backends[ACCOUNT][region]


def events_backend(region: str) -> Any:
    return events_backends[ACCOUNT][region]


def bucket_backend() -> Any:
    return s3_backends[ACCOUNT]["aws"]


def send_to_queue(
    arn: str,
    body: str,
    *,
    group: str | None = None,
    attributes: dict[str, str] | None = None,
) -> None:
    """Send a message to a queue by ARN.

    Raises:
        moto's QueueDoesNotExist, when nothing stands behind the ARN.
    """
    queue_backend(_region_of(arn)).send_message(
        resource_of(arn),
        body,
        message_attributes={
            name: {"DataType": "String", "StringValue": value} for name, value in (attributes or {}).items()
        },
        group_id=group,
    )


def service_of(arn: str) -> str:
    """`sqs` of `arn:aws:sqs:…`.

    Raises:
        UnsupportedError: it is no ARN.
    """
    parts = arn.split(":", 5)
    if len(parts) != 6 or parts[0] != "arn":  # noqa: PLR2004 - arn:partition:service:region:account:resource
        raise UnsupportedError(f"{arn!r} is not an ARN")
    return parts[2]
