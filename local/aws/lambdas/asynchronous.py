"""Asynchronous invocation: queued, tried again twice, then given to the failure destination or the dead-letter queue.

Source: AWS Lambda developer guide, "How Lambda handles errors and retries with asynchronous invocation": one minute
before the second try, two before the third.
"""

import json
import logging
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from local.aws import backends
from local.aws.clock import Clock
from local.aws.delays import Delays
from local.aws.lambdas.destinations import deliver
from local.aws.lambdas.runtime import Invocation, LambdaRuntime

_log = logging.getLogger(__name__)

_MAX_CONCURRENT = 32
_PAUSES = (60.0, 120.0)
_DEFAULT_RETRIES = 2
_DEFAULT_MAX_AGE = 6 * 3600


@dataclass(frozen=True, slots=True)
class QueuedEvent:
    """One event on its way to a function, and how often it has been tried."""

    function: Any
    event: bytes
    queued_at: datetime  # by the simulated clock
    tries: int = 0
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))


class AsyncInvoker:
    """The event queue in front of every function."""

    def __init__(self, *, runtime: LambdaRuntime, delays: Delays, clock: Clock) -> None:
        self._runtime = runtime
        self._delays = delays
        self._clock = clock
        self._pool = ThreadPoolExecutor(_MAX_CONCURRENT, thread_name_prefix="async-invoke")

    def submit(self, function: Any, event: bytes) -> None:
        """Accept an event; the caller has its 202 at once."""
        self._pool.submit(self._try, QueuedEvent(function, event, self._clock.simulated_now()))

    def _try(self, queued: QueuedEvent) -> None:
        try:
            outcome = self._runtime.invoke(queued.function, queued.event)
            self._settle(replace(queued, tries=queued.tries + 1), outcome)
        except Exception:  # noqa: BLE001 - logged; this thread serves others
            _log.exception("an asynchronous invocation of %s could not be settled", queued.function.function_name)

    def _settle(self, queued: QueuedEvent, outcome: Invocation) -> None:
        config = _event_config(queued.function)
        targets = config.get("DestinationConfig") or {}
        if not outcome.failed:
            _deliver_if_any(targets.get("OnSuccess"), queued, outcome, "Success")
            return
        age = self._clock.simulated_now() - queued.queued_at
        too_old = age.total_seconds() > config.get("MaximumEventAgeInSeconds", _DEFAULT_MAX_AGE)
        if queued.tries <= config.get("MaximumRetryAttempts", _DEFAULT_RETRIES) and not too_old:
            pause = self._clock.real_seconds(_PAUSES[queued.tries - 1])
            self._delays.call_later(pause, lambda: self._pool.submit(self._try, queued))
            return
        _deliver_if_any(
            targets.get("OnFailure"), queued, outcome, "EventAgeExceeded" if too_old else "RetriesExhausted"
        )
        _dead_letter(queued, outcome)


def _event_config(function: Any) -> dict[str, Any]:
    configured = function.event_invoke_config
    return dict(configured[0].config) if configured else {}


def _deliver_if_any(target: dict[str, Any] | None, queued: QueuedEvent, outcome: Invocation, condition: str) -> None:
    if target and target.get("Destination"):
        deliver(target["Destination"], json.dumps(_record(queued, outcome, condition)), queued.function.region)


def _record(queued: QueuedEvent, outcome: Invocation, condition: str) -> dict[str, Any]:
    """The invocation record of the developer guide, "Capturing records of Lambda asynchronous invocations"."""
    error = {"functionError": "Unhandled"} if outcome.failed else {}
    return {
        "version": "1.0",
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "requestContext": {
            "requestId": queued.request_id,
            "functionArn": f"{queued.function.function_arn}:$LATEST",
            "condition": condition,
            "approximateInvokeCount": queued.tries,
        },
        "requestPayload": json.loads(queued.event or b"{}"),
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", **error},
        "responsePayload": outcome.value(),
    }


def _dead_letter(queued: QueuedEvent, outcome: Invocation) -> None:
    target = getattr(queued.function, "relight_properties", {}).get("DeadLetterConfig", {}).get("TargetArn")
    if not target:
        return
    attributes = {
        "RequestID": queued.request_id,
        "ErrorCode": "200",
        "ErrorMessage": str(outcome.value().get("errorMessage", ""))[:1024],
    }
    if backends.service_of(target) == "sqs":
        backends.send_to_queue(target, queued.event.decode(), attributes=attributes)
    else:
        deliver(target, queued.event.decode(), queued.function.region)
