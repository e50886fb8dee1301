"""What a cluster could still get: its groups' room, warm pools, refused launches, reserved slots.

It must not know boto3. The twin is in `functions/twins/capacity.py`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True)
class Room:
    """An Auto Scaling group: how many instances it wants and may want at ``most``, and reservations that it names.

    ``types`` are instance types that its description tells, those that its policy names and those of its instances,
    with how many of these it has. Empty: nobody knows. With ``others`` it may launch further ones.
    """

    name: str
    wanted: int
    most: int
    has_warm_pool: bool = False
    reservations: tuple[str, ...] = ()
    types: Mapping[str, int] = field(default_factory=dict)
    others: bool = False


@dataclass(frozen=True)
class Refusal:
    """A launch that failed for want of capacity. ``instance_type`` is the one that it names, "" when it names none."""

    at: datetime
    why: str
    instance_type: str = ""


@dataclass(frozen=True)
class Reservation:
    """A capacity reservation or Capacity Block that is in force. ``cluster`` is what its tag says, "" without one."""

    id: str
    slots: int
    free: int
    cluster: str = ""
    ends_at: datetime | None = None
    instance_type: str = ""


class CapacityView(Protocol):
    """EC2's and Auto Scaling's own view. Each failure raises DependencyError, and says nothing of the other calls."""

    def rooms(self, cluster: str, groups: Collection[str]) -> Sequence[Room]:
        """Return the named *groups* that exist; when none is named, those that carry the tag of *cluster*."""
        ...

    def warm(self, group: str) -> Mapping[str, int]:
        """Return how many instances of the group's warm pool are ready to be taken into service, by type."""
        ...

    def refusal(self, group: str) -> Refusal | None:
        """Return the newest of the group's launches that has ended, if that failed for want of capacity."""
        ...

    def reservations(self) -> Sequence[Reservation]:
        """Return all that are in force in this account and region, also those that others share with it."""
        ...

    def lived_in(self, reservations: Collection[str], groups: Collection[str]) -> Collection[str]:
        """Return those of *reservations* in which an instance of one of *groups* runs."""
        ...
