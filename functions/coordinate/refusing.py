"""Puts aside what can never become right: first into the dead letters with its reason, only then it counts as handled.

Waiting would not help such a message, and it would hold its cluster's others back. Dying in between brings it again,
and its letter is the same one. It must not know why something is refused.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

from functions.coordinate.parallel import run_all
from functions.coordinate.telling import REFUSED, explained, in_short
from functions.ports.dead_letters import DeadLetter, DeadLetters
from functions.ports.triage import Telemetry


@dataclass(frozen=True)
class Refusal:
    """A record of SQS as Lambda brings it, and the error that no later try would cure."""

    record: Mapping[str, Any]
    error: Exception


def put_aside(refusals: Sequence[Refusal], *, letters: DeadLetters, telemetry: Telemetry, pool: Executor) -> list[str]:
    """Dead-letter *refusals*; return the ids of the records that could not be, which are to come back."""
    errors = run_all(pool, [partial(letters.send, _letter(each)) for each in refusals])
    back: list[str] = []
    for refusal, error in zip(refusals, errors, strict=True):
        record = refusal.record["messageId"]
        telemetry.warn("A message is refused.", record=record, reason=explained(refusal.error))
        if error:
            telemetry.warn("A refused message comes back.", record=record, reason=explained(error))
            back.append(record)
    telemetry.count(REFUSED, len(refusals) - len(back))
    return back


def _letter(refusal: Refusal) -> DeadLetter:
    record, error = refusal.record, refusal.error
    attributes = record["attributes"]
    return DeadLetter(
        id=record["messageId"],
        group=attributes["MessageGroupId"],
        body=record["body"],
        reason=in_short(error),
        error=type(error).__name__,
        received=int(attributes["ApproximateReceiveCount"]),
    )
