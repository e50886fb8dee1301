"""What a cluster could still get, in memory."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from functions.ports.capacity import Refusal, Reservation, Room
from policies.contract.errors import DependencyError


@dataclass
class MemoryCapacityView:
    """``of`` is cluster -> its groups' names, ``inside`` reservation -> groups that run in it.

    ``failing`` are names of calls that fail, ``warm one`` for one group alone; ``asked`` are the calls that were made.
    """

    groups: list[Room] = field(default_factory=list)
    of: dict[str, list[str]] = field(default_factory=dict)
    warm_pools: dict[str, Mapping[str, int]] = field(default_factory=dict)
    refusals: dict[str, Refusal] = field(default_factory=dict)
    reserved: list[Reservation] = field(default_factory=list)
    inside: dict[str, list[str]] = field(default_factory=dict)
    failing: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def rooms(self, cluster: str, groups: Collection[str]) -> Sequence[Room]:
        """See the port."""
        self._ask("rooms")
        wanted = groups or self.of.get(cluster, ())
        return [each for each in self.groups if each.name in wanted]

    def warm(self, group: str) -> Mapping[str, int]:
        """See the port."""
        self._ask("warm", group)
        return self.warm_pools.get(group, {})

    def refusal(self, group: str) -> Refusal | None:
        """See the port."""
        self._ask("refusal", group)
        return self.refusals.get(group)

    def reservations(self) -> Sequence[Reservation]:
        """See the port."""
        self._ask("reservations")
        return self.reserved

    def lived_in(self, reservations: Collection[str], groups: Collection[str]) -> Collection[str]:
        """See the port."""
        self._ask("lived_in")
        return {each for each in reservations if {*self.inside.get(each, ())} & {*groups}}

    def _ask(self, call: str, group: str = "") -> None:
        self.asked.append(call)
        if {call, f"{call} {group}"} & self.failing:
            raise DependencyError(f"{call} fails.", hint="Try again.")
