"""Handing a finished record to its destination: a queue, a topic, a bus or another function."""

import json

from local.aws import backends
from local.aws.errors import UnsupportedError


def deliver(arn: str, body: str, region: str) -> None:
    """Put `body` (JSON text) where the destination's ARN points.

    Raises:
        UnsupportedError: a destination that Lambda does not have either.
    """
    service = backends.service_of(arn)
    if service == "sqs":
        backends.send_to_queue(arn, body)
    elif service == "sns":
        backends.topic_backend(region).publish(message=body, arn=arn)
    elif service == "lambda":
        backends.function(arn, region).invoke(body, {"x-amz-invocation-type": "Event"}, {})
    elif service == "events":
        entry = {"Source": "lambda", "DetailType": "Lambda Function Invocation Result", "Detail": body}
        name = backends.resource_of(arn).removeprefix("event-bus/")
        backends.events_backend(region).put_events([{**entry, "EventBusName": name}])
    else:
        raise UnsupportedError(f"{arn} cannot be a destination: {json.dumps(service)} is no destination of Lambda's")
