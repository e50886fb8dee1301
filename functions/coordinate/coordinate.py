"""Coordinate: for each cluster of a batch one read, one pure decision, conditional writes, effects after the commit.

Decides which messages come back: those that wait for a dependency. What can never become right is put aside at once.
Whatever dies in between is healed by the message coming back, or by the sweep: every step is the same when done again.
It must not know what is decided.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from functions.coordinate.batches import Delivery, failures, sort_records
from functions.coordinate.carrying import carry_effects, commit
from functions.coordinate.reading import Sources, read_snapshot
from functions.coordinate.refusing import Refusal, put_aside
from functions.coordinate.telling import CONFLICTS, FAILED, TAKEN, explained, tell_ages, tell_decision
from functions.ports.coordination import CoordinationStore, Executions, Sizes, Switchboard
from functions.ports.dead_letters import DeadLetters
from functions.ports.facts import FactReader
from functions.ports.triage import Telemetry
from policies.contract.errors import BadInputError, DependencyError
from policies.coordination.decide import decide
from policies.coordination.rules import Rules
from policies.coordination.snapshot import ConflictError, Decision

DECISION_TRIES = 4  # a cluster's messages are serial: only a run that outlived its visibility competes
OUTAGE_AFTER = 2  # so many single messages failing in a row are not their own fault


@dataclass(frozen=True)
class Coordinator:
    """The ports and rules of one deployment."""

    store: CoordinationStore
    executions: Executions
    sizes: Sizes
    switches: Switchboard
    facts: FactReader
    dead_letters: DeadLetters
    telemetry: Telemetry
    rules: Rules
    clock: Callable[[], datetime]
    pool: Executor

    def take(self, records: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, str]]]:
        """Take the SQS *records* of one invocation; return which of them are to come back."""
        by_cluster, refused = sort_records(records)
        failed: list[str] = []
        for cluster, deliveries in by_cluster.items():
            self.telemetry.count(TAKEN, len(deliveries))
            failed.extend(self.take_cluster(cluster, deliveries))
        failed.extend(self._put_aside(refused))  # last: whatever keeps it waiting, the others are decided
        self.telemetry.count(FAILED, len(failed))
        return failures(failed)

    def take_cluster(self, cluster: str, deliveries: Sequence[Delivery]) -> list[str]:
        """Take all at once; when that fails take each alone, so that a bad message does not take others with it.

        Return the ids of the records that are to come back.
        """
        try:
            return self._take_together(cluster, deliveries)
        except Exception as error:  # noqa: BLE001 - whatever one message breaks, the others are tried alone
            self.telemetry.warn("Messages failed.", cluster=cluster, count=len(deliveries), reason=explained(error))
            if len(deliveries) > 1:
                return self._take_each(cluster, deliveries)
            if isinstance(error, BadInputError):
                return self._put_aside([Refusal(deliveries[0].record, error)])
            return [deliveries[0].record_id]

    def _take_each(self, cluster: str, deliveries: Sequence[Delivery]) -> list[str]:
        failed: list[str] = []
        for position, delivery in enumerate(deliveries):
            if len(failed) == OUTAGE_AFTER == position:
                return [each.record_id for each in deliveries]
            failed.extend(self.take_cluster(cluster, [delivery]))
        return failed

    def _take_together(self, cluster: str, deliveries: Sequence[Delivery]) -> list[str]:
        decision = self._decide(cluster, deliveries)
        failed = carry_effects(
            decision, store=self.store, executions=self.executions, telemetry=self.telemetry, pool=self.pool
        )
        for index, error in failed.items():
            record = deliveries[index].record_id
            self.telemetry.warn("A message comes back.", cluster=cluster, record=record, reason=explained(error))
        back = [deliveries[index].record_id for index in sorted(failed)]
        for index, error in sorted(decision.refused.items()):
            back.extend(self._refuse(cluster, deliveries[index], error, alone=len(deliveries) == 1))
        return back

    def _refuse(self, cluster: str, delivery: Delivery, error: Exception, *, alone: bool) -> list[str]:
        """Put aside what is refused *alone* as well: only then it is its own fault, and not that of its neighbours."""
        if not alone:
            return self.take_cluster(cluster, [delivery])
        if isinstance(error, DependencyError):
            return [delivery.record_id]
        return self._put_aside([Refusal(delivery.record, error)])

    def _put_aside(self, refused: Sequence[Refusal]) -> list[str]:
        return put_aside(refused, letters=self.dead_letters, telemetry=self.telemetry, pool=self.pool)

    def _decide(self, cluster: str, deliveries: Sequence[Delivery]) -> Decision:
        """Read, decide and commit until nobody changed what was read; DependencyError when it will not settle."""
        messages = [delivery.message for delivery in deliveries]
        for _ in range(DECISION_TRIES):
            now = self.clock()
            snapshot = read_snapshot(
                cluster,
                messages,
                sources=Sources(self.store, self.executions, self.sizes, self.switches, self.facts),
                rules=self.rules,
                now=now,
                pool=self.pool,
            )
            decision = decide(snapshot, messages, now, rules=self.rules)
            try:
                commit(decision, store=self.store, switches=self.switches, pool=self.pool)
            except ConflictError:
                self.telemetry.count(CONFLICTS)
                continue
            tell_decision(self.telemetry, decision, messages, now)
            tell_ages(self.telemetry, snapshot, messages, now)
            return decision
        raise DependencyError(
            f"cluster {cluster} kept changing under {DECISION_TRIES} decisions.", hint="It is tried again."
        )
