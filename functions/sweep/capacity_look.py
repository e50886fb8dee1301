"""The minute's look at what a cluster could still get: asks for each part, within a time, and keeps what it came to.

A part that fails, or for which there is no time left, leaves its members unknown and costs nobody else anything; that
of one group, the types that this may launch. It must not decide what the answers mean (`capacity.py` does).
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from functions.ports.capacity import CapacityView, Reservation, Room
from functions.ports.facts import FactKey, FactWriter
from functions.settings import ClusterSettings
from functions.sweep.capacity import judge, surely_of
from functions.sweep.capacity_types import Answers
from policies.contract.errors import DependencyError
from policies.facts.capacity import CAPACITY

LOG = logging.getLogger(__name__)
# Of an invocation's 30 seconds, counted from its beginning: the last call that begins within these has time to fail.
PATIENCE = timedelta(seconds=15)
KEPT = timedelta(days=7)  # what a cluster that is no more could once get
_MOST_WHY = 200
T = TypeVar("T")


@dataclass(frozen=True)
class CapacityLook:
    """The ports of the look; ``clock`` is the one that the sweep's beginning was read from."""

    view: CapacityView
    facts: FactWriter
    clock: Callable[[], datetime]
    patience: timedelta = PATIENCE

    def look(self, clusters: Sequence[ClusterSettings], began: datetime) -> None:
        """Keep what each of *clusters* could get. DependencyError when one could not be kept; the others are."""
        reserved = _Reserved(self.view)
        failures = [error for cluster in clusters if (error := self._keep(cluster, reserved, began))]
        if failures:
            raise failures[0]

    def _keep(self, cluster: ClusterSettings, reserved: "_Reserved", began: datetime) -> DependencyError | None:
        answers = _Asking(self, cluster, reserved, began + self.patience).answers()
        for part, why in answers.unknown.items():
            LOG.info("capacity of %s: %s is unknown: %s", cluster.name, part, why)
        try:
            key = FactKey(cluster.name, CAPACITY.name)
            self.facts.keep(key, judge(answers, began).to_json(), began + KEPT)
        except DependencyError as error:
            return error
        return None


class _Reserved:
    """The account's reservations, which are the same for each cluster: asked for once, also where that fails."""

    def __init__(self, view: CapacityView) -> None:
        self._view = view
        self._answer: Sequence[Reservation] | DependencyError | None = None

    def all(self) -> Sequence[Reservation]:
        if self._answer is None:
            try:
                self._answer = self._view.reservations()
            except DependencyError as error:
                self._answer = error
        if isinstance(self._answer, DependencyError):
            raise self._answer
        return self._answer


class _Asking:
    """One cluster's questions."""

    def __init__(self, look: CapacityLook, cluster: ClusterSettings, reserved: _Reserved, until: datetime) -> None:
        self._look, self._view, self._cluster, self._until = look, look.view, cluster, until
        self._reserved = reserved
        self._unknown: dict[str, str] = {}

    def answers(self) -> Answers:
        name, groups = self._cluster.name, self._cluster.auto_scaling_groups
        rooms = self._ask(("headroom", "spares", "reserved_free"), lambda: self._rooms(name, groups))
        if not rooms:
            return Answers(unknown=self._unknown)
        warm = self._by_group("spares", [room for room in rooms if room.has_warm_pool], self._view.warm)
        reservations = self._ask(("reserved_free",), lambda: self._reservations(rooms))
        asked = self._by_group("refused_at", rooms, self._view.refusal)
        refusals = {name: each for name, each in asked.items() if each}
        return Answers(rooms, warm, refusals, reservations, self._unknown)

    def _ask(self, fields: Sequence[str], question: Callable[[], T]) -> T | None:
        try:
            return question()
        except DependencyError as error:
            self._unknown.update(dict.fromkeys(fields, str(error)[:_MOST_WHY]))
            return None

    def _in_time(self) -> None:
        if self._look.clock() >= self._until:
            raise DependencyError("there was no time left to ask.", hint="The next minute asks again.")

    def _rooms(self, cluster: str, groups: Sequence[str]) -> Sequence[Room]:
        self._in_time()
        rooms = self._view.rooms(cluster, groups)
        if not rooms:
            raise DependencyError("the cluster has no Auto Scaling group.", hint="Name or tag it (docs/deploying.md).")
        return rooms

    def _by_group(self, part: str, rooms: Sequence[Room], question: Callable[[str], T]) -> Mapping[str, T | None]:
        """Return the answers by group; one that fails costs the groups of other types nothing."""
        return {room.name: self._ask((part,), partial(self._each, room.name, question)) for room in rooms}

    def _reservations(self, rooms: Sequence[Room]) -> Sequence[Reservation]:
        self._in_time()
        told = {each.id: surely_of(each, self._cluster.name, rooms) for each in self._reserved.all()}
        unsure = [name for name, ours in told.items() if ours is None]
        if unsure:
            self._in_time()
            lived_in = self._view.lived_in(unsure, [room.name for room in rooms])
            told |= {name: name in lived_in for name in unsure}
        return [each for each in self._reserved.all() if told[each.id]]

    def _each(self, name: str, question: Callable[[str], T]) -> T:
        self._in_time()
        return question(name)
