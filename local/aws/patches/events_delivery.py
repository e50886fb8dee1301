"""PutEvents goes through our bus.

moto matches patterns less exactly (see events.patterns), delivers while the caller waits, to queues, logs and buses
only, without InputPath, Input, retries or dead-letter queues, never fires a schedule, and takes events of AWS's own
services from anybody.
"""

import json
import uuid
from collections.abc import Mapping
from typing import Any

from moto.events.exceptions import ValidationException
from moto.events.models import EventsBackend
from moto.events.responses import EventsHandler

from local.aws import backends
from local.aws.events import patterns
from local.aws.events.bus import Bus, new_event
from local.aws.events.schedules import parse
from local.aws.patches.replacing import replace

_MAX_ENTRIES = 10
_REQUIRED = ("Source", "DetailType", "Detail")


def apply(bus: Bus) -> None:
    """Replace what PutEvents does, and check patterns, schedules and targets when they are made."""

    def put_events(self: Any, events: list[dict[str, Any]]) -> list[dict[str, str]]:
        if len(events) > _MAX_ENTRIES:
            raise ValidationException(
                "1 validation error detected: Value '[PutEventsRequestEntry]' at 'entries' failed to satisfy "
                "constraint: Member must have length less than or equal to 10"
            )
        return [_put(bus, self.region_name, entry) for entry in events]

    replace(EventsBackend, "put_events", put_events)
    _refuse_service_events()
    _check_targets(bus)
    _check_rules()


def _put(bus: Bus, region: str, entry: Mapping[str, Any]) -> dict[str, str]:
    for name in _REQUIRED:
        if not entry.get(name):
            text = f"Parameter {name} is not valid. Reason: {name} is a required argument."
            return {"ErrorCode": "InvalidArgument", "ErrorMessage": text}
    try:
        json.loads(entry["Detail"])
    except ValueError:
        return {"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}
    identifier = str(uuid.uuid4())
    event = new_event(entry, identifier=identifier, account=backends.ACCOUNT, region=region)
    bus.publish((entry.get("EventBusName") or "default").rsplit("/", 1)[-1], event)
    return {"EventId": identifier}


def _refuse_service_events() -> None:
    """Over the API nobody may speak as `aws.ec2`; the control endpoint may."""
    original = EventsBackend.put_events

    def respond(self: Any) -> tuple[str, dict[str, Any]]:
        entries = self._get_param("Entries")
        refusal = {"ErrorCode": "NotAuthorizedForSourceException", "ErrorMessage": "Not authorized for the source."}
        foreign = [str(entry.get("Source", "")).startswith("aws.") for entry in entries]
        allowed = iter(
            original(self.events_backend, [entry for entry, aws in zip(entries, foreign, strict=True) if not aws])
        )
        results = [refusal if aws else next(allowed) for aws in foreign]
        failed = len([result for result in results if "ErrorCode" in result])
        return json.dumps({"FailedEntryCount": failed, "Entries": results}), self.response_headers

    replace(EventsHandler, "put_events", respond)


def _check_targets(bus: Bus) -> None:
    original = EventsBackend.put_targets

    def put_targets(self: Any, name: str, event_bus_arn: str | None, targets: list[dict[str, Any]]) -> None:
        for target in targets:
            if not target["Arn"].endswith(":::"):
                bus.targets.check(target)
        original(self, name, event_bus_arn, targets)

    replace(EventsBackend, "put_targets", put_targets)


def _check_rules() -> None:
    original = EventsBackend.put_rule

    def put_rule(self: Any, name: str, **more: Any) -> Any:
        if more.get("scheduled_expression"):
            parse(more["scheduled_expression"])
        patterns.check(json.loads(more.get("event_pattern") or "{}"))
        return original(self, name, **more)

    replace(EventsBackend, "put_rule", put_rule)
