"""What the acts share: how long to wait until the next look, when to give up, facts with their types checked.

It must not know any particular act.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from functions.acts.act import ActContext
from policies.contract.decisions import RungReport
from policies.contract.times import format_time, parse_time


@dataclass(frozen=True)
class Pace:
    """Grows the time between looks, from ``first`` to ``most`` seconds.

    That is what a Wait state is told, and the embedded AWS shortens those by itself. ``scale`` is by how much it does,
    for thresholds that are held against the real clock.
    """

    scale: float = 1.0
    first: float = 2.0
    most: float = 30.0

    def seconds(self, polls: int) -> float:
        """Return how long to wait after the *polls*-th look."""
        return float(min(self.first * 1.5 ** min(polls, 20), self.most))

    def wait(self, context: ActContext, reason: str, **outcome: Any) -> RungReport:  # noqa: ANN401 - facts are JSON
        """Report waiting for *reason*; past the incident's deadline, failed for it."""
        if context.now >= context.deadline:
            return context.failed(f"{reason}, still so at the deadline {format_time(context.deadline)}", **outcome)
        return context.waiting(self.seconds(context.polls), reason, **outcome)


def text_of(facts: Mapping[str, Any], name: str) -> str:
    """Return the fact *name* if it is text, else an empty one."""
    value = facts.get(name)
    return value if isinstance(value, str) else ""


def number_of(facts: Mapping[str, Any], name: str) -> int | None:
    """Return the fact *name* if it is a whole number (facts come back from DynamoDB as its numbers)."""
    value = facts.get(name)
    try:
        number = None if value is None or isinstance(value, bool) else int(value)
    except (TypeError, ValueError, OverflowError):  # JSON as Python reads it knows Infinity
        return None
    return number if number == value else None


def moment_of(facts: Mapping[str, Any], name: str) -> datetime | None:
    """Return the fact *name* if it is a moment."""
    try:
        return parse_time(text_of(facts, name))
    except ValueError:
        return None
