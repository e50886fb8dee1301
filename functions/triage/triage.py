"""One batch of records on its way to decisions: effects first, commit last, every effect idempotent by its id.

Decides the order of reads, effects and commits, and what is reported back as failed. It must not judge events (the
evaluator does) or know AWS.

What repeats: a batch that fails after its effects comes again and finds the old states, so it has the same findings
under the same ids. What conflicts: another worker (the other lane) wrote a node meanwhile; that node is read and judged
again on top of it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from functions.archive.keeping import Keeper
from functions.ports.heartbeats import name_of_canary
from functions.ports.triage import Decisions, Heard, NodeKey, NodeStates, Reject, RejectStore, StoredState, Telemetry
from functions.triage.adding import pack_contributions
from functions.triage.batching import pack
from functions.triage.ending import pack_cancellations
from functions.triage.facts import FactBook
from functions.triage.judging import judge
from functions.triage.places import Places
from functions.triage.progress import ProgressBook
from functions.triage.records import OVERFLOW, Record
from functions.triage.rulebooks import Rulebooks
from functions.triage.seen import SeenBook
from functions.triage.sorting import Arrival, is_sign_of_life, reject_event, sort_records
from functions.triage.telling import tell
from policies.contract.errors import DependencyError
from policies.evaluator import Evaluation
from policies.rulebook import Rulebook

MOST_ROUNDS = 5  # two lanes and four workers a shard share a node at most for moments; more conflicts mean a fault
Nodes = Mapping[NodeKey, Sequence[Arrival]]


@dataclass(frozen=True)
class Triage:
    """Triage with its ports; `handle` takes one batch."""

    states: NodeStates
    rulebooks: Rulebooks
    rejects: RejectStore
    decisions: Decisions
    seen: SeenBook
    telemetry: Telemetry
    clock: Callable[[], datetime]
    places: Places | None = None  # without it a node is where its envelopes say
    progress: ProgressBook | None = None  # without it nobody keeps how jobs go
    facts: FactBook | None = None  # without it nothing is known that no event tells
    archive: Keeper | None = None  # of what came by overflow, which nobody else reads

    def handle(self, records: Sequence[Record]) -> Sequence[str]:
        """Return the failure ids of the records whose nodes could not be committed, or that are not in the archive.

        DependencyError when something all nodes need is broken: then nothing is committed and everything comes again.
        """
        now = self.clock()
        unkept = self._keep([record for record in records if record.lane == OVERFLOW], now)
        batch = sort_records(records)
        for canary in batch.canaries:
            self.telemetry.count("CanariesSeen")
            sent_at = canary.delivery.parsed.envelope.sent_at
            self.telemetry.measure_seconds("CanaryAge", max((now - sent_at).total_seconds(), 0.0))
        self._reject(batch.rejects)
        failed = self._work(batch.nodes, self.rulebooks.current() if batch.nodes else None, now)
        self._note([*_heard(batch.nodes), *map(_canary, batch.canaries)])
        self._note_progress(batch.nodes)
        again = [arrival.record.failure_id for key in failed for arrival in batch.nodes[key]]
        return list(dict.fromkeys([*again, *unkept]))

    def _keep(self, records: Sequence[Record], now: datetime) -> Sequence[str]:
        """Return what the archive did not take: it is judged all the same, and comes again only to be kept."""
        if self.archive is None or not records:
            return ()
        try:
            self.archive.keep(records, now)
        except DependencyError as error:
            self.telemetry.count("OverflowNotArchived", len(records))
            self.telemetry.warn("overflow is judged but not archived; it comes again", reason=str(error))
            return [record.failure_id for record in records]
        return ()

    def _note(self, heard: Sequence[Heard]) -> None:
        """A sign of life that cannot be written is no reason to judge a shard again: the next one comes in seconds."""
        try:
            self.seen.note(heard)
        except DependencyError as error:
            self.telemetry.count("SeenNotWritten")
            self.telemetry.warn("who was heard was not written; the next heartbeat is", reason=str(error))

    def _note_progress(self, nodes: Nodes) -> None:
        """How a job goes is as little a reason: it is said again half a minute later."""
        if self.progress is None:
            return
        try:
            self.progress.note(nodes)
        except DependencyError as error:
            self.telemetry.count("ProgressNotWritten")
            self.telemetry.warn("how jobs go was not written; the next heartbeat is", reason=str(error))

    def _work(self, nodes: Nodes, rulebook: Rulebook | None, now: datetime) -> Collection[NodeKey]:
        failed: dict[NodeKey, DependencyError] = {}
        left: Nodes = nodes
        rounds = 0
        while left and rulebook is not None and rounds < MOST_ROUNDS:
            rounds += 1
            conflicts, broken = self._round(left, rulebook, now)
            failed |= broken
            left = {key: left[key] for key in conflicts}
        failed |= {key: DependencyError("its state changed under each of our writes.") for key in left}
        if failed:
            self._complain(failed)
        if nodes and len(failed) == len(nodes):
            raise next(iter(failed.values()))
        return failed

    def _round(
        self, nodes: Nodes, rulebook: Rulebook, now: datetime
    ) -> tuple[Collection[NodeKey], Mapping[NodeKey, DependencyError]]:
        """Read, judge, have the effects, commit; return the nodes that conflicted and those that took no write."""
        stored = self.states.load(nodes.keys(), now)
        placed = self.places.fill(nodes, rulebook, now) if self.places else nodes
        facts = self.facts.of(nodes, rulebook, now) if self.facts else {}
        judged, spoilt = judge(placed, stored, rulebook, now, facts)
        self._reject([*_rejects(nodes, judged), *spoilt])
        for message in pack(finding for one in judged.values() for finding in one.findings):
            self.decisions.send(message)
        for message in pack_contributions(each for one in judged.values() for each in one.contributions):
            self.decisions.send(message)
        for message in pack_cancellations(
            (key.cluster, each) for key, one in judged.items() for each in one.cancellations
        ):
            self.decisions.send(message)
        commit = self.states.commit(
            {
                key: StoredState(one.state, stored[key].version)
                for key, one in judged.items()
                if one.changed or stored[key].ages
            },
            now,
        )
        undone = commit.conflicts | commit.failed.keys()
        tell(self.telemetry, {key: one for key, one in judged.items() if key not in undone}, now)
        return commit.conflicts, commit.failed

    def _reject(self, rejects: Sequence[Reject]) -> None:
        if not rejects:
            return
        new = self.rejects.put(rejects)
        self.telemetry.count("RecordsRejected", len(new))
        for reject in new[:10]:
            self.telemetry.warn("rejected", id=reject.id, lane=reject.lane, reason=reject.reason, hint=reject.hint)

    def _complain(self, failed: Mapping[NodeKey, DependencyError]) -> None:
        self.telemetry.count("NodesNotCommitted", len(failed))
        key, error = next(iter(failed.items()))
        self.telemetry.warn(
            "nodes not committed, their records come again", nodes=len(failed), one=key.instance_id, reason=str(error)
        )


def _rejects(nodes: Nodes, judged: Mapping[NodeKey, Evaluation]) -> Iterable[Reject]:
    for key, evaluation in judged.items():
        for place, (index, refused) in enumerate(evaluation.rejected):
            yield reject_event(nodes[key][index], refused, place)


def _heard(nodes: Nodes) -> Iterable[Heard]:
    """Yield who spoke itself: what AWS or the sweep say of a node is no sign of its life."""
    for key, arrivals in nodes.items():
        own = [arrival for arrival in arrivals if is_sign_of_life(arrival.delivery.parsed.envelope)]
        if own:
            newest = max(own, key=lambda arrival: arrival.record.arrived_at)
            node = newest.delivery.parsed.envelope.node
            yield Heard(key.cluster, key.instance_id, node.boot_id, newest.record.arrived_at)


def _canary(arrival: Arrival) -> Heard:
    """Return that a canary came through, noted as a node is: each minute's is a boot of its own, so all are written."""
    envelope = arrival.delivery.parsed.envelope
    name = name_of_canary(envelope.node.instance_id)
    return Heard(envelope.node.cluster, name, envelope.spool_id, arrival.record.arrived_at)
