"""What one poll measures: conditions that hold, things that happened since the last poll, what it could not read.

It must not know how often a poll runs, where its events go, or what was told before: `agent.polls.work` does.
"""

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from agent.coalesce import burst_key
from agent.events import readable
from agent.parsers.sighting import Sighting
from policies.contract.events import Component
from policies.contract.vocabulary import Kind

Memory = MutableMapping[str, Any]
"""A poll's own JSON: survives a restart of the agent, not of the node. Baselines of counters stand here."""


@dataclass(frozen=True, slots=True)
class Instant:
    """When a poll runs: ``at`` by the wall clock, ``ticks`` in seconds since boot (goes on through sleep)."""

    at: datetime
    ticks: float


@dataclass(frozen=True, slots=True)
class Holds:
    """A condition that is measured now. All times in seconds.

    Told once it held for ``after`` without a break, again every ``again`` while it holds (with the attributes
    ``ongoing`` and ``occurrence``: it is the same fault), and as cleared after ``cleared_after`` of good polls.
    """

    sighting: Sighting
    message: str
    after: float = 0.0
    again: float = 600.0
    cleared_after: float = 30.0
    in_boot: bool = True  # False: normal while a node boots, so told only if it still holds after the boot grace
    recovery: Kind = Kind.CONDITION_CLEARED

    @property
    def key(self) -> str:
        """What tells this condition from others of the same poll."""
        return readable(burst_key(self.sighting))


@dataclass(frozen=True, slots=True)
class Happened:
    """``count`` times since the last poll. The first is told at once, more of the same within ten seconds as one."""

    sighting: Sighting
    message: str
    count: int = 1

    @property
    def key(self) -> str:
        """What tells it from others of the same poll."""
        return readable(burst_key(self.sighting))


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """These kinds (of this component, or of all) could not be read: their conditions neither hold nor clear."""

    kinds: frozenset[Kind]
    component: Component | None = None

    def covers(self, kind: str, component_key: str) -> bool:
        """Tell whether a condition of *kind* on the component with this key is among them."""
        return kind in self.kinds and (self.component is None or self.component.key == component_key)


Reading = Holds | Happened | NotMeasured


class NotHereError(Exception):
    """There is nothing of this kind on this node: said once, looked for again later, soon while it boots."""


class Poll(Protocol):
    """One thing that is measured again and again."""

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """Return what holds and what happened; a kind that is not among it is well.

        NotHereError when there is nothing to measure; anything else that is raised changes nothing of what was told.
        """
        ...


def increase(memory: Memory, key: str, value: int) -> int:
    """Return by how much the counter *key* rose since it was last read, and note *value*.

    0 at the first reading: what it counted before this boot, or before the agent, is old. A counter that fell was
    reset: all that it now shows is new.
    """
    counters = memory.setdefault("counters", {})
    before = counters.get(key)
    counters[key] = value
    if before is None:
        return 0
    return int(value - before if value >= before else value)
