"""The second stage of a replay: coordinate itself, on documents in memory and rehearsed executions.

Decides in which form messages reach it: as triage packed them, those of one record together, at the moment they were
told. It must not decide anything about an incident.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from functions.coordinate.batches import Delivery
from functions.coordinate.coordinate import Coordinator
from functions.ports.coordination import Sizes, Switchboard
from functions.twins.dead_letters import MemoryDeadLetters
from policies.contract.decisions import AnyMessage, AskMessage, SweepMessage
from policies.contract.vocabulary import Orchestrator
from policies.coordination.rules import Rules
from simulator.facts import ReplayFacts
from simulator.rehearsal import BEFORE_ALL, Rehearsal
from simulator.store import ReplayStore
from simulator.surroundings import OneThread, Remarks

# What a dead letter says beside its message; the queue's own figures mean nothing here.
_ATTRIBUTES: Mapping[str, str] = {"MessageGroupId": "replay", "ApproximateReceiveCount": "1"}


class Coordination:
    """Coordinate with its ports. ``undecided`` counts messages that it could not take."""

    def __init__(
        self,
        *,
        store: ReplayStore,
        facts: ReplayFacts,
        rehearsal: Rehearsal,
        sizes: Sizes,
        switches: Switchboard,
        telemetry: Remarks,
        orchestrator: Callable[[str], Orchestrator],
        time_scale: float,
    ) -> None:
        """Wire it; *orchestrator* says who runs a cluster."""
        self.store = store
        self._rehearsal = rehearsal
        self._telemetry = telemetry
        self._orchestrator = orchestrator
        self._orchestrators: dict[str, Orchestrator] = {}
        self._letters = MemoryDeadLetters()
        self._now = BEFORE_ALL
        self.undecided = 0
        self._coordinator = Coordinator(
            store=store,
            executions=rehearsal,
            sizes=sizes,
            switches=switches,
            facts=facts,
            dead_letters=self._letters,
            telemetry=telemetry,
            rules=Rules(self._orchestrators, time_scale),
            clock=lambda: self._now,
            pool=OneThread(),
        )

    def take(self, messages: Sequence[AnyMessage], now: datetime) -> None:
        """Have *messages*, which are of one cluster, decided together at *now*."""
        self._now = self._rehearsal.now = now
        cluster = self._telemetry.about = messages[0].cluster
        if cluster not in self._orchestrators:
            self._orchestrators[cluster] = self._orchestrator(cluster)
        for message in messages:
            if isinstance(message, AskMessage):
                self._rehearsal.waits(message)
        deliveries = [Delivery(_record(place), message) for place, message in enumerate(messages)]
        self.undecided += len(self._coordinator.take_cluster(cluster, deliveries))

    def sweep(self, now: datetime) -> None:
        """Have incidents looked at in the clusters that have any of which a sweep may make something."""
        for cluster in self.store.looked_at:
            self.take([SweepMessage(cluster=cluster, at=now)], now)


def _record(place: int) -> Mapping[str, Any]:
    """Return a record of SQS whose id says which message of its batch it is."""
    return {"messageId": f"{place}", "attributes": _ATTRIBUTES, "body": ""}
