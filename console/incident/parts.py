"""Everything `relight incident` works with, whoever built it: AWS (`wiring.py`) or twins (tests)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from console.incident.ports import Closings, Incidents
from policies.contract.errors import RelightError


class IncidentError(RelightError):
    """What was asked cannot be done; the hint says what to do instead."""


@dataclass(frozen=True)
class Parts:
    """The ports of one stack, and its clusters' names. ``pause`` sleeps that many seconds."""

    clusters: Sequence[str]
    incidents: Incidents
    closings: Closings
    clock: Callable[[], datetime]
    pause: Callable[[float], None]
