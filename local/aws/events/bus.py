"""Rules at work: an event comes in, its rules' targets get it, failures are tried again and then dead-lettered."""

import json
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from local.aws import backends
from local.aws.clients import Clients
from local.aws.clock import Clock
from local.aws.delays import Delays
from local.aws.events import patterns
from local.aws.events.inputs import body_for
from local.aws.events.targets import Delivery, Targets
from local.aws.recorder import Recorder

_log = logging.getLogger(__name__)

_WORKERS = 8
_DEFAULT_RETRIES = 185  # "Event retry policy": 24 hours and up to 185 times
# What no retry mends: the target does not exist. It goes to the dead-letter queue at once.
_PERMANENT = frozenset(
    {"ResourceNotFoundException", "StateMachineDoesNotExist", "QueueDoesNotExist", "TopicNotFound", "MissingParameter"}
)
KEPT_IN_ARCHIVE = 10_000

# How a service of AWS tells the default bus: source, detail_type, detail and resources by keyword.
Emit = Callable[..., str]


class Bus:
    """Delivers events to the targets of the rules they match."""

    def __init__(self, *, region: str, endpoint: str, recorder: Recorder, delays: Delays, clock: Clock) -> None:
        self._region = region
        self._delays = delays
        self._clock = clock
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="events")
        clients = Clients(endpoint, region, {"retries": {"total_max_attempts": 1}})
        self.targets = Targets(clients=clients, recorder=recorder, publish=self.publish)

    def publish(self, bus_name: str, event: Mapping[str, Any]) -> None:
        """Give an event to every enabled rule of a bus that it matches.

        Raises:
            moto's ResourceNotFoundException: there is no such bus.
        """
        bus = backends.events_backend(self._region).describe_event_bus(bus_name)
        for rule in list(bus.rules.values()):
            pattern = rule.event_pattern.get_pattern()
            if rule.state == "ENABLED" and pattern and patterns.matches(pattern, event):
                self.fire(rule, event)

    def emit(self, *, source: str, detail_type: str, detail: Mapping[str, Any], resources: Sequence[str] = ()) -> str:
        """Put an event on the default bus as an AWS service does; its id."""
        entry = {"Source": source, "DetailType": detail_type, "Detail": json.dumps(detail), "Resources": resources}
        event = new_event(entry, identifier=str(uuid.uuid4()), account=backends.ACCOUNT, region=self._region)
        self.publish("default", event)
        return str(event["id"])

    def fire(self, rule: Any, event: Mapping[str, Any]) -> None:
        """Give an event to all targets of a rule."""
        for target in list(rule.targets):
            if target["Arn"].endswith(":::"):  # how moto marks the rule behind an archive
                self._archive(rule, event)
                continue
            body = body_for(target, event, rule_arn=rule.arn)
            self._pool.submit(self._deliver, Delivery(target, event, body, rule.arn, self._region), 0)

    def _archive(self, rule: Any, event: Mapping[str, Any]) -> None:
        for archive in backends.events_backend(self._region).archives.values():
            if archive.rule is rule:
                archive.events.append(event)
                del archive.events[:-KEPT_IN_ARCHIVE]

    def _deliver(self, delivery: Delivery, tries: int) -> None:
        try:
            self.targets.deliver(delivery)
        except Exception as error:  # noqa: BLE001 - any failure of a target leads to a retry or the dead-letter queue
            self._failed(delivery, tries, error)

    def _failed(self, delivery: Delivery, tries: int, error: Exception) -> None:
        policy = delivery.target.get("RetryPolicy") or {}
        retries = int(policy.get("MaximumRetryAttempts", _DEFAULT_RETRIES))
        if _code(error) not in _PERMANENT and tries < retries:
            pause = self._clock.real_seconds(min(2.0**tries, 300.0))
            self._delays.call_later(pause, lambda: self._pool.submit(self._deliver, delivery, tries + 1))
            return
        _log.warning("a target of %s did not take an event: %s: %s", delivery.rule_arn, _code(error), error)
        queue = (delivery.target.get("DeadLetterConfig") or {}).get("Arn")
        if queue:
            self._dead_letter(queue, delivery, tries, error)

    def _dead_letter(self, queue: str, delivery: Delivery, tries: int, error: Exception) -> None:
        attributes = {
            "RULE_ARN": delivery.rule_arn,
            "TARGET_ARN": delivery.target["Arn"],
            "ERROR_CODE": _code(error),
            "ERROR_MESSAGE": str(error)[:1024] or _code(error),
            "RETRY_ATTEMPTS": str(tries),
        }
        if _code(error) not in _PERMANENT:
            attributes["EXHAUSTED_RETRY_CONDITION"] = "MaximumRetryAttempts"
        try:
            backends.send_to_queue(queue, json.dumps(delivery.event), attributes=attributes)
        except Exception:  # noqa: BLE001 - logged: there is no further place to put it
            _log.exception("the dead-letter queue %s of %s did not take an event", queue, delivery.rule_arn)


def _code(error: Exception) -> str:
    if isinstance(error, ClientError):
        return str(error.response["Error"]["Code"])
    return type(error).__name__


def new_event(entry: Mapping[str, Any], *, identifier: str, account: str, region: str) -> dict[str, Any]:
    """An entry of PutEvents as the event that rules see."""
    return {
        "version": "0",
        "id": identifier,
        "detail-type": entry["DetailType"],
        "source": entry["Source"],
        "account": account,
        "time": time_text(entry.get("Time")),
        "region": region,
        "resources": list(entry.get("Resources") or []),
        "detail": json.loads(entry["Detail"]),
    }


def time_text(moment: Any = None) -> str:
    """A moment (epoch seconds, text, or now) as events spell it."""
    if isinstance(moment, str) and not moment.replace(".", "", 1).isdigit():
        return moment
    when = datetime.now(UTC) if moment is None else datetime.fromtimestamp(float(moment), UTC)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
