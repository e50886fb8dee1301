"""Instances and Auto Scaling groups in memory: a group keeps its size, a launch and a shutdown take as long as told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count

from functions.ports.instances import Checks, Group, Instance, Membership, State


class MemoryInstances:
    """``terminated`` and ``stopped`` count effects. ``no_capacity`` makes launches fail with that message.

    ``wanted`` is each group's size; ``suspended`` maps a group to why it launches nothing.
    """

    def __init__(
        self, clock: Callable[[], datetime], *, launch_seconds: float = 0, shutdown_seconds: float = 0
    ) -> None:
        """Launches and shutdowns take this long by *clock*."""
        self._clock = clock
        self._launch_seconds = launch_seconds
        self._shutdown_seconds = shutdown_seconds
        self._instances: dict[str, Instance] = {}
        self._groups: dict[str, list[str]] = {}
        self._failures: list[tuple[str, datetime, str]] = []
        self._numbers = count(1)
        self.console_texts: dict[str, str] = {}
        self.check_results: dict[str, Checks] = {}
        self.no_capacity = ""
        self.wanted: dict[str, int] = {}
        self.suspended: dict[str, str] = {}
        self.terminated: list[str] = []
        self.stopped: list[str] = []

    def launch(self, group: str = "", instance_id: str = "", tags: Mapping[str, str] | None = None) -> str:
        """Start an instance, in a group if one is named; return its id."""
        new = instance_id or f"i-{next(self._numbers):017x}"
        state: State = "pending" if self._launch_seconds else "running"
        self._instances[new] = Instance(new, state, self._clock().replace(microsecond=0), tags=tags or {})
        if group:
            members = self._groups.setdefault(group, [])
            members.append(new)
            self.wanted[group] = max(self.wanted.get(group, 0), len(members))
        return new

    def end(self, instance_id: str, state: State = "terminated") -> None:
        """Let EC2 or a person end it, outside Relight."""
        self._instances[instance_id] = replace(
            self._instances[instance_id], state=state, changed_at=self._clock().replace(microsecond=0)
        )

    def fulfil(self, group: str) -> None:
        """Let the group launch what it lacks since the capacity came back."""
        self.no_capacity = ""
        self.launch(group)

    def describe(self, instance_ids: Sequence[str]) -> Mapping[str, Instance]:
        """See the port."""
        return {each: self._now(each) for each in instance_ids if each in self._instances}

    def checks(self, instance_id: str) -> Checks | None:
        """See the port."""
        if instance_id in self.check_results:
            return self.check_results[instance_id]
        known = self.describe([instance_id]).get(instance_id)
        return Checks("ok", "ok") if known and known.state == "running" else None

    def membership(self, instance_id: str) -> Membership | None:
        """See the port."""
        for group, members in self._groups.items():
            if instance_id in members:
                state = self._now(instance_id).state
                return Membership(group, {"pending": "Pending", "running": "InService"}.get(state, "Terminating"))
        return None

    def group(self, name: str) -> Group | None:
        """See the port."""
        if name not in self._groups:
            return None
        staying = [each for each in self._groups[name] if self._now(each).state in {"pending", "running"}]
        return Group(tuple(staying), self.wanted[name], self.suspended.get(name, ""))

    def replace(self, instance_id: str) -> None:
        """See the port."""
        membership = self.membership(instance_id)
        if membership is None or membership.leaving:
            return
        self.terminated.append(instance_id)
        self._groups[membership.group].remove(instance_id)
        self.end(instance_id, "shutting-down" if self._shutdown_seconds else "terminated")
        if self.no_capacity:
            self._failures.append((membership.group, self._clock(), self.no_capacity))
        elif membership.group not in self.suspended and self._lacks(membership.group):
            self.launch(membership.group)

    def _lacks(self, group: str) -> bool:
        return len(self._groups[group]) < self.wanted[group]

    def stop(self, instance_id: str) -> None:
        """See the port."""
        if instance_id in self._instances and self._now(instance_id).state in {"pending", "running"}:
            self.stopped.append(instance_id)
            self.end(instance_id, "stopping" if self._shutdown_seconds else "stopped")

    def failed_launches(self, group: str, since: datetime) -> Sequence[str]:
        """See the port."""
        return [why for name, at, why in reversed(self._failures) if name == group and at >= since]

    def console(self, instance_id: str) -> str:
        """See the port."""
        return self.console_texts.get(instance_id, "")

    def _now(self, instance_id: str) -> Instance:
        """The instance as time has made it."""
        known = self._instances[instance_id]
        ends: dict[State, State] = {"shutting-down": "terminated", "stopping": "stopped"}
        if known.state == "pending" and self._since(known.launched_at) >= self._launch_seconds:
            known = replace(known, state="running")
        elif known.state in ends and self._since(known.changed_at) >= self._shutdown_seconds:
            known = replace(known, state=ends[known.state])
        self._instances[instance_id] = known
        return known

    def _since(self, moment: datetime | None) -> float:
        return (self._clock() - moment).total_seconds() if moment else 0.0


class MemoryClaims:
    """Claims in memory."""

    def __init__(self) -> None:
        """Start with none."""
        self.claims: dict[str, str] = {}

    def claim(self, instance_id: str, incident: str, at: datetime) -> str:  # noqa: ARG002 - the port's signature
        """See the port."""
        return self.claims.setdefault(instance_id, incident)
