"""What the instance's metadata announce: interruption of a spot instance, maintenance, retirement.

The words are those of `functions.intake`, which makes the same kinds of EventBridge's events, so that a policy sees one
vocabulary whoever told first. Pure: text in, readings out. It must not know how the metadata are asked.

Sources, EC2 user guide: "Spot Instance interruption notices", "EC2 instance rebalance recommendations", "View scheduled
events for your instances". The example stands above each parser.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from agent.parsers.sighting import NODE, Sighting
from agent.polls.reading import Holds
from policies.contract.events import Scalar
from policies.contract.times import format_time, parse_time
from policies.contract.vocabulary import Kind, Persistence, Severity

Parse = Callable[[str], list[Holds]]
# The host is given up: the instance is retired, or stopped to start elsewhere ("Types of scheduled events").
_GIVEN_UP = frozenset({"instance-retirement", "instance-stop"})


# spot/instance-action: {"action": "terminate", "time": "2017-09-18T08:22:00Z"}
def spot_interruption(text: str) -> list[Holds]:
    """Two minutes remain, for hibernation none."""
    notice = json.loads(text)
    attributes: dict[str, Scalar] = {"action": str(notice["action"])}
    when = ""
    if "time" in notice:
        attributes["starts_at"] = format_time(parse_time(notice["time"]))
        when = f" at {notice['time']}"
    sighting = Sighting(
        Kind.INSTANCE_SPOT_INTERRUPTION, Severity.CRITICAL, NODE, attributes, persistence=Persistence.PERMANENT
    )
    return [Holds(sighting, f"EC2 will {notice['action']} this spot instance{when}")]


# events/recommendations/rebalance: {"noticeTime": "2020-10-27T08:22:00Z"}
def rebalance(text: str) -> list[Holds]:
    """An elevated risk of interruption, no certainty."""
    noticed = format_time(parse_time(json.loads(text)["noticeTime"]))
    sighting = Sighting(
        Kind.INSTANCE_REBALANCE_RECOMMENDED,
        Severity.WARNING,
        NODE,
        {"noticed_at": noticed},
        persistence=Persistence.TRANSIENT,
    )
    return [Holds(sighting, "EC2 expects to interrupt this spot instance", again=3600.0)]


# events/maintenance/scheduled:
# [{"NotBefore": "21 Jan 2019 09:00:43 GMT", "Code": "system-reboot", "Description": "scheduled reboot",
#   "EventId": "instance-event-0d59937288b749b32", "NotAfter": "21 Jan 2019 09:17:23 GMT", "State": "active"}]
def scheduled(text: str) -> list[Holds]:
    """One for each event that is still to come; those that were cancelled or are over are listed with another state.

    What of an event is not understood is left out: it hides neither the event nor the others.
    """
    events = [event for event in json.loads(text) if isinstance(event, dict)]
    return [_scheduled(event) for event in events if event.get("State", "active") == "active"]


def _scheduled(event: dict[str, Any]) -> Holds:
    code = str(event.get("Code") or "unknown")
    given_up = code in _GIVEN_UP
    attributes: dict[str, Scalar] = {"code": code, "event": str(event.get("EventId") or code)}
    attributes |= {name: at for key, name in _TIMES.items() if (at := _time(event.get(key)))}
    sighting = Sighting(
        Kind.INSTANCE_RETIREMENT_SCHEDULED if given_up else Kind.INSTANCE_MAINTENANCE_SCHEDULED,
        Severity.ERROR if given_up else Severity.WARNING,
        NODE,
        attributes,
        persistence=Persistence.PERMANENT,
    )
    message = f"EC2: {event.get('Description') or code}, not before {event.get('NotBefore', 'it says')}"
    return Holds(sighting, message, again=6 * 3600.0)


_TIMES = {"NotBefore": "starts_at", "NotAfter": "ends_at", "NotBeforeDeadline": "deadline"}


def _time(text: object) -> str:
    try:
        moment: datetime = parsedate_to_datetime(str(text or ""))
    except ValueError:
        return ""
    return format_time(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment)


SPOT: dict[str, Parse] = {
    "spot/instance-action": spot_interruption,
    "events/recommendations/rebalance": rebalance,
}
SCHEDULED: dict[str, Parse] = {"events/maintenance/scheduled": scheduled}
