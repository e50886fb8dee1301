"""Topics: quick envelopes, real events for functions, and a bounded memory of what was published.

moto signs each envelope with a key it makes for each subscription (0.1 s and more), takes RawMessageDelivery "false"
for true, gives functions a made-up example event while the publisher waits, and remembers every message for ever.
"""

import json
import logging
from collections import deque
from datetime import UTC, datetime
from typing import Any

from moto.sns.models import Subscription, Topic

from local.aws import backends
from local.aws.patches.replacing import replace

_log = logging.getLogger(__name__)

KEPT_PUBLICATIONS = 10_000


def apply() -> None:
    original = Topic.__init__

    def init(self: Any, name: str, sns_backend: Any) -> None:
        original(self, name, sns_backend)
        self.sent_notifications = deque(maxlen=KEPT_PUBLICATIONS)

    replace(Topic, "__init__", init)
    replace(Subscription, "publish", _publish)
    replace(Subscription, "get_post_data", _envelope)


def published(topic_arn: str, region: str) -> list[dict[str, Any]]:
    """What was published to a topic, oldest first."""
    sent = backends.topic_backend(region).get_topic(topic_arn).sent_notifications
    return [
        {"MessageId": identifier, "Message": message, "Subject": subject, "MessageAttributes": attributes or {}}
        for identifier, message, subject, attributes, _group in list(sent)
    ]


def _publish(
    self: Any,
    message: str,
    message_id: str,
    subject: str | None = None,
    message_attributes: dict[str, Any] | None = None,
    group_id: str | None = None,
    deduplication_id: str | None = None,
    message_structure: str | None = None,
) -> None:
    matcher = self._filter_policy_matcher
    if matcher is not None and not matcher.matches(message_attributes, message):
        return
    if message_structure == "json":
        message = self._parse_message_structure(message, self.protocol)
    envelope = self.get_post_data(message, message_id, subject, message_attributes=message_attributes)
    if self.protocol == "sqs":
        raw = str(self.attributes.get("RawMessageDelivery", "")).lower() == "true"
        body = message if raw else json.dumps(envelope)
        _to_queue(self.endpoint, body, message_attributes if raw else None, group_id, deduplication_id)
    elif self.protocol == "lambda":
        _to_function(self, envelope)


def _to_queue(
    arn: str, body: str, attributes: dict[str, Any] | None, group: str | None, deduplication: str | None
) -> None:
    shaped = {
        name: {"DataType": value["Type"], _value_field(value["Type"]): value["Value"]}
        for name, value in (attributes or {}).items()
    }
    backend = backends.queue_backend(arn.split(":")[3])
    name = backends.resource_of(arn)
    backend.send_message(name, body, message_attributes=shaped, group_id=group, deduplication_id=deduplication)


def _value_field(kind: str) -> str:
    return "BinaryValue" if kind.startswith("Binary") else "StringValue"


def _to_function(subscription: Any, envelope: dict[str, Any]) -> None:
    record = {
        "EventSource": "aws:sns",
        "EventVersion": "1.0",
        "EventSubscriptionArn": subscription.arn,
        "Sns": {"Subject": None, "MessageAttributes": {}, **envelope},
    }
    function = backends.function(subscription.endpoint, subscription.endpoint.split(":")[3])
    function.invoke(json.dumps({"Records": [record]}), {"x-amz-invocation-type": "Event"}, {})


def _envelope(
    self: Any, message: str, message_id: str, subject: str | None, message_attributes: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The notification of the SNS developer guide; its signature is a word, since nothing here checks it."""
    envelope: dict[str, Any] = {
        "Type": "Notification",
        "MessageId": message_id,
        "TopicArn": self.topic.arn,
        "Message": message,
        "Timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "SignatureVersion": "1",
        "Signature": "not-signed",
        "SigningCertURL": "https://sns.invalid/certificate.pem",
        "UnsubscribeURL": "https://sns.invalid/unsubscribe",
    }
    if subject:
        envelope["Subject"] = subject
    if message_attributes:
        envelope["MessageAttributes"] = message_attributes
    return envelope
