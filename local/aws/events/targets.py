"""Handing an event's body to a target by its ARN. Each service in its own words; retries are not decided here."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from local.aws import backends, principals
from local.aws.clients import Clients
from local.aws.errors import UnsupportedError
from local.aws.events.inputs import at_path
from local.aws.recorder import Recorder

Target = Mapping[str, Any]


@dataclass(frozen=True)
class Delivery:
    """One event on its way to one target of one rule."""

    target: Target
    event: Mapping[str, Any]
    body: str
    rule_arn: str
    region: str


class Targets:
    """Delivers to the services that targets may be."""

    def __init__(
        self, *, clients: Clients, recorder: Recorder, publish: Callable[[str, Mapping[str, Any]], None]
    ) -> None:
        """Keep what deliveries need.

        Args:
            clients: for what is called as any other call, so that it can fail on purpose.
            recorder: counts what is done under a target's role.
            publish: puts an event on a bus, for targets that are buses.
        """
        self._clients = clients
        self._recorder = recorder
        self._publish = publish
        self._by_service: Mapping[str, Callable[[Delivery], None]] = {
            "events": self._to_bus,
            "kinesis": self._to_kinesis,
            "lambda": self._to_lambda,
            "logs": self._to_logs,
            "sns": self._to_sns,
            "sqs": self._to_sqs,
            "states": self._to_states,
        }

    def check(self, target: Target) -> None:
        """Refuse a target that could not be delivered to.

        Raises:
            UnsupportedError: naming the service.
        """
        service = backends.service_of(target["Arn"])
        if service not in self._by_service:
            raise UnsupportedError(f"{service} is not represented as a target of rules in the embedded AWS")

    def deliver(self, delivery: Delivery) -> None:
        """Deliver once. Whatever the target's service raises comes through."""
        self._by_service[backends.service_of(delivery.target["Arn"])](delivery)

    def _record(self, delivery: Delivery, action: str) -> None:
        role = delivery.target.get("RoleArn")
        if role:
            self._recorder.record(principals.role_name(role), action, (delivery.target["Arn"],))

    def _to_bus(self, delivery: Delivery) -> None:
        self._record(delivery, "events:PutEvents")
        self._publish(delivery.target["Arn"].rsplit("/", 1)[-1], delivery.event)

    def _to_kinesis(self, delivery: Delivery) -> None:
        self._record(delivery, "kinesis:PutRecord")
        path = delivery.target.get("KinesisParameters", {}).get("PartitionKeyPath")
        key = str(at_path(delivery.event, path)) if path else str(delivery.event["id"])
        self._client("kinesis", delivery).put_record(
            StreamARN=delivery.target["Arn"], Data=delivery.body.encode(), PartitionKey=key
        )

    def _to_lambda(self, delivery: Delivery) -> None:
        function = backends.function(delivery.target["Arn"], delivery.region)
        function.invoke(delivery.body, {"x-amz-invocation-type": "Event"}, {})

    def _to_logs(self, delivery: Delivery) -> None:
        group = delivery.target["Arn"].split(":")[6]
        client = self._client("logs", delivery)
        client.create_log_stream(logGroupName=group, logStreamName=delivery.event["id"])
        client.put_log_events(
            logGroupName=group,
            logStreamName=delivery.event["id"],
            logEvents=[{"timestamp": 0, "message": delivery.body}],
        )

    def _to_sns(self, delivery: Delivery) -> None:
        backends.topic_backend(delivery.region).publish(message=_text(delivery.body), arn=delivery.target["Arn"])

    def _to_sqs(self, delivery: Delivery) -> None:
        group = delivery.target.get("SqsParameters", {}).get("MessageGroupId")
        backends.send_to_queue(delivery.target["Arn"], _text(delivery.body), group=group)

    def _to_states(self, delivery: Delivery) -> None:
        self._client("stepfunctions", delivery).start_execution(
            stateMachineArn=delivery.target["Arn"], input=delivery.body
        )

    def _client(self, service: str, delivery: Delivery) -> Any:
        role = principals.role_name(delivery.target.get("RoleArn", "events.amazonaws.com"))
        return self._clients.get(service, role)


def _text(body: str) -> str:
    """Queues and topics get a template that is one quoted text without its quotes."""
    if body.startswith('"'):
        try:
            return str(json.loads(body))
        except ValueError:
            return body
    return body
