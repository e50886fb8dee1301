"""Fires scheduled rules, in time that runs as fast as the time scale says."""

import logging
import threading
import uuid
from datetime import datetime
from typing import Any

from local.aws import backends
from local.aws.clock import Clock
from local.aws.errors import UnsupportedError
from local.aws.events.bus import Bus
from local.aws.events.schedules import parse

_log = logging.getLogger(__name__)

# How soon a new rule is noticed, in real seconds.
_STEP = 0.1


class Scheduler:
    """One thread that looks at the schedules of the default bus."""

    def __init__(self, *, bus: Bus, region: str, clock: Clock) -> None:
        self._bus = bus
        self._region = region
        self._clock = clock
        self._next: dict[str, tuple[str, datetime]] = {}

    def start(self) -> None:
        threading.Thread(target=self._run, name="scheduler", daemon=True).start()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            for rule in list(backends.events_backend(self._region).event_buses["default"].rules.values()):
                if rule.scheduled_expression and rule.state == "ENABLED":
                    self._look_at(rule)
            pause.wait(_STEP)

    def _look_at(self, rule: Any) -> None:
        now = self._clock.simulated_now()
        expression, due = self._next.get(rule.arn, ("", now))
        if expression != rule.scheduled_expression:
            self._plan(rule, now)
        elif due <= now:
            self._plan(rule, now)
            self._bus.fire(rule, self._event(rule, due))

    def _plan(self, rule: Any, now: datetime) -> None:
        try:
            self._next[rule.arn] = (rule.scheduled_expression, parse(rule.scheduled_expression).after(now))
        except UnsupportedError as error:
            _log.warning("%s does not fire: %s", rule.arn, error)
            self._next[rule.arn] = (rule.scheduled_expression, datetime.max.replace(tzinfo=now.tzinfo))

    def _event(self, rule: Any, due: datetime) -> dict[str, Any]:
        """The event of the user guide, "Scheduled Event"."""
        return {
            "version": "0",
            "id": str(uuid.uuid4()),
            "detail-type": "Scheduled Event",
            "source": "aws.events",
            "account": backends.ACCOUNT,
            "time": due.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "region": self._region,
            "resources": [rule.arn],
            "detail": {},
        }
