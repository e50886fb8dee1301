"""A bucket's versioning and its events follow the template.

moto's CloudFormation makes the bucket and forgets both, so "Object Created" never reached a rule; what it sends when
asked over the API goes to the rules of all buses, under a time that is a number.
"""

from typing import Any

from moto.s3 import notifications
from moto.s3.models import FakeBucket, NotificationConfiguration

from local.aws import backends
from local.aws.errors import UnsupportedError
from local.aws.events.bus import Bus, time_text
from local.aws.patches.replacing import Make, around_creation, replace

_REPRESENTED = frozenset({"EventBridgeConfiguration"})


def apply(bus: Bus) -> None:
    """Apply both properties, and announce objects on the default bus."""

    def announce(account_id: str, bucket: Any, event_name: str, key: Any) -> None:
        bus.publish("default", _event(account_id, bucket, event_name, key))

    replace(notifications, "_send_event_bridge_message", announce)
    around_creation(FakeBucket, _create)


def _create(make: Make, name: str, resource: dict[str, Any], _region: str) -> Any:
    properties = resource.get("Properties", {})
    wanted = properties.get("NotificationConfiguration") or {}
    if set(wanted) - _REPRESENTED:
        raise UnsupportedError(f"notifications by {sorted(set(wanted) - _REPRESENTED)} are not represented; use rules")
    bucket = make(name, resource)
    if properties.get("VersioningConfiguration", {}).get("Status") == "Enabled":
        backends.bucket_backend().put_bucket_versioning(name, "Enabled")
    if wanted:
        bucket.notification_configuration = NotificationConfiguration(event_bridge={})
    return bucket


def _event(account: str, bucket: Any, event_name: str, key: Any) -> dict[str, Any]:
    """The event of the S3 user guide, "EventBridge event message structure"."""
    return {
        "version": "0",
        "id": key.etag.strip('"'),
        "detail-type": notifications._detail_type(event_name),
        "source": "aws.s3",
        "account": account,
        "time": time_text(),
        "region": bucket.region_name,
        "resources": [bucket.arn],
        "detail": {
            "version": "0",
            "bucket": {"name": bucket.name},
            "object": {"key": key.name, "size": key.size, "etag": key.etag.strip('"')},
            "reason": "PutObject" if "Put" in event_name else event_name.split(":")[1],
        },
    }
