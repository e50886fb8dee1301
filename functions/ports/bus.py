"""The bus on which Relight tells the world what became of an incident.

It must not know EventBridge. The twin is `functions/twins/bus.py`.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from policies.contract.base import Model
from policies.contract.times import Moment


class Announcement(Model):
    """One event for the bus. ``id`` is the same whenever the same change is told again; it travels in the detail."""

    id: str
    type: str  # ``Incident Opened``
    at: Moment
    detail: dict[str, Any]


class Bus(Protocol):
    """A bus that may take some of what it is given and refuse the rest."""

    def put(self, announcements: Sequence[Announcement]) -> Sequence[Announcement]:
        """Tell *announcements* in order; return those refused, in order. DependencyError when nobody answers."""
        ...
