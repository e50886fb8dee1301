"""EC2 instances and their Auto Scaling groups, as far as Relight observes and replaces them.

It must not know boto3. The twin is `functions/twins/instances.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

State = Literal["pending", "running", "shutting-down", "terminated", "stopping", "stopped"]
GONE: frozenset[State] = frozenset({"terminated", "stopped"})
"""States in which nothing on the instance runs any more; in shutting-down and stopping it still may."""


@dataclass(frozen=True)
class Instance:
    """One instance. ``changed_at`` is when it last changed its state, where EC2 tells; ``description`` is EC2's own."""

    id: str
    state: State
    launched_at: datetime
    changed_at: datetime | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    description: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Membership:
    """An instance's place in an Auto Scaling group. ``lifecycle`` is Auto Scaling's word, such as ``InService``."""

    group: str
    lifecycle: str

    @property
    def leaving(self) -> bool:
        """Whether the group gives it up already."""
        return self.lifecycle.startswith(("Terminat", "Detach"))


@dataclass(frozen=True)
class Group:
    """An Auto Scaling group. ``members`` are those that stay, ``wanted`` how many it keeps.

    ``stopped`` is why it launches nothing at all, empty when it does.
    """

    members: tuple[str, ...]
    wanted: int
    stopped: str = ""


@dataclass(frozen=True)
class Checks:
    """EC2's two status checks: ``ok``, ``impaired``, ``initializing``, ``insufficient-data`` or ``not-applicable``."""

    instance: str
    system: str


class Instances(Protocol):
    """What an executor sees and does. Failures raise DependencyError."""

    def describe(self, instance_ids: Sequence[str]) -> Mapping[str, Instance]:
        """Return the instances EC2 still knows, by id; a terminated one is forgotten after about an hour."""
        ...

    def checks(self, instance_id: str) -> Checks | None:
        """Return the status checks, None while EC2 has none."""
        ...

    def membership(self, instance_id: str) -> Membership | None:
        """Return the group it is in, None when it is in none (any more)."""
        ...

    def group(self, name: str) -> Group | None:
        """Return the group of this name."""
        ...

    def replace(self, instance_id: str) -> None:
        """Let the group terminate it and keep its desired capacity. An instance that is in no group is left alone."""
        ...

    def stop(self, instance_id: str) -> None:
        """Stop it, by force. Already stopped or terminated: nothing happens."""
        ...

    def failed_launches(self, group: str, since: datetime) -> Sequence[str]:
        """Return why launches of the group failed since then, newest first, at most a few."""
        ...

    def console(self, instance_id: str) -> str:
        """Return the latest console output EC2 keeps, empty when it has none."""
        ...


class Claims(Protocol):
    """Which incident took which replacement: one item an instance, written once."""

    def claim(self, instance_id: str, incident: str, at: datetime) -> str:
        """Claim the instance for *incident* unless somebody has; return the incident that holds it."""
        ...
