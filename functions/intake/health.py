"""AWS Health about instances: what is scheduled for them. Other categories are no fact about an instance of ours.

Categories are spelt in lower camel case (``scheduledChange``), times as RFC 1123.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pydantic import Field

from functions.intake.notice import AwsEvent, Instance, Notice
from policies.contract.base import Model
from policies.contract.events import cut_message
from policies.contract.times import format_time
from policies.contract.vocabulary import Kind, Persistence, Severity, Source


# {"id": "7fb65329-1628-4cf3-a740-95fg457h1402", "detail-type": "AWS Health Event", "source": "aws.health",
#  "time": "2016-06-05T06:27:57Z", "region": "us-east-1", "resources": ["i-12345678"],
#  "detail": {"eventArn": "arn:aws:health:region::event/id", "service": "EC2",
#             "eventTypeCode": "AWS_EC2_DEDICATED_HOST_NETWORK_MAINTENANCE_SCHEDULED",
#             "eventTypeCategory": "scheduledChange", "startTime": "Sat, 05 Jun 2016 15:10:09 GMT",
#             "eventDescription": [{"language": "en_US", "latestDescription": "A description …"}],
#             "affectedEntities": [{"entityValue": "i-12345678", "tags": {"stage": "prod", "app": "my-app"}}]}}
class _Entity(Model):
    value: str = Field(alias="entityValue")


class _Description(Model):
    text: str = Field(default="", alias="latestDescription")


class _Change(Model):
    arn: str = Field(alias="eventArn")
    code: str = Field(alias="eventTypeCode")
    category: str = Field(alias="eventTypeCategory")
    status: str = Field(default="", alias="statusCode")
    starts: str = Field(default="", alias="startTime")
    updated: str = Field(default="", alias="lastUpdatedTime")
    descriptions: tuple[_Description, ...] = Field(default=(), alias="eventDescription")
    entities: tuple[_Entity, ...] = Field(default=(), alias="affectedEntities")


# The host is given up: the instance is retired, or stopped to start elsewhere (EC2 user guide, "Scheduled events").
_GIVEN_UP = ("RETIREMENT", "INSTANCE_STOP")


def scheduled_change(event: AwsEvent) -> tuple[Notice, ...]:
    """One notice an instance; a change that is over, or that concerns no instance, says nothing."""
    change = _Change.model_validate(event.detail)
    if change.category != "scheduledChange" or change.status == "closed":
        return ()
    instances = [entity.value for entity in change.entities] or list(event.resources)
    return tuple(_notice(event, change, name) for name in map(_bare, instances) if name.startswith("i-"))


def _notice(event: AwsEvent, change: _Change, instance: str) -> Notice:
    given_up = any(word in change.code for word in _GIVEN_UP)
    starts = {"starts_at": format_time(_rfc_1123(change.starts))} if change.starts else {}
    message, _ = cut_message(" ".join(description.text for description in change.descriptions) or change.code)
    return Notice(
        # Health sends the same change again under a new event id: what tells them apart is what they say.
        key=f"{change.arn}:{change.status}:{change.updated or change.starts}",
        subject=Instance(instance),
        kind=Kind.INSTANCE_RETIREMENT_SCHEDULED if given_up else Kind.INSTANCE_MAINTENANCE_SCHEDULED,
        severity=Severity.ERROR if given_up else Severity.WARNING,
        source=Source.HEALTH,
        observed_at=event.time,
        persistence=Persistence.PERMANENT,
        attributes={"code": change.code, "health_event": change.arn, **starts},
        message=message,
    )


def _bare(resource: str) -> str:
    """Return the id, from a bare one or from the end of an ARN."""
    return resource.rpartition("/")[2]


def _rfc_1123(text: str) -> datetime:
    moment = parsedate_to_datetime(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
