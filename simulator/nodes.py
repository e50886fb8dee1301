"""The first stage of a replay: each record through triage's own steps, on the state that its node has by then.

Decides nothing of its own: records are sorted, judged and packed by the functions that the Lambda calls, one record at
a time, in the order in which the lanes took them. How a run of triage happened to cut its batches leaves no trace.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from functions.ports.triage import NodeKey, Reject
from functions.triage.adding import pack_contributions
from functions.triage.batching import pack
from functions.triage.ending import pack_cancellations
from functions.triage.facts import FactBook
from functions.triage.judging import judge_node, spoilt_by
from functions.triage.places import placed
from functions.triage.progress import ProgressBook
from functions.triage.records import Record
from functions.triage.sorting import Arrival, is_sign_of_life, read_record
from policies.contract.archive import ArchivedRecord
from policies.contract.decisions import FindingsMessage
from policies.contract.envelope import Envelope, ParsedEnvelope
from policies.evaluator import Evaluation
from policies.facts.snapshot import NOTHING_KNOWN
from policies.rulebook import Rulebook
from simulator.heartbeats import Heartbeat, Heartbeats
from simulator.runs import Run
from simulator.states import States

COUNTED = ("records", "events", "matches", "findings", "repeats", "rejected", "canaries", "lost")
KEPT = timedelta(days=14)  # how long the fleet table keeps a node that says nothing (functions/adapters/node_states.py)
LATELY = timedelta(minutes=15)  # who was heard within it counts as a node of its cluster (functions/adapters/sizes.py)


class Books(NamedTuple):
    """What policies ask for of a cluster, and how its jobs go: what a warm worker of triage remembers of both."""

    facts: FactBook
    progress: ProgressBook


class Nodes:
    """The nodes' states, when each was heard last, which of them speak for a run, and what was counted on the way."""

    def __init__(self, open_books: Callable[[str], Books]) -> None:
        """Know no node. *open_books* gives a cluster its own books: what one remembers is no matter of another's."""
        self._open_books = open_books
        self._books: dict[str, Books] = {}
        self._beats = Heartbeats()
        self.states = States()
        self.touched: dict[NodeKey, datetime] = {}
        self.heard: dict[str, dict[str, datetime]] = {}
        self.runs: dict[Run, set[str]] = {}
        self.most: dict[str, int] = {}
        self.racks: dict[NodeKey, str] = {}
        self.counts: Counter[str] = Counter()
        self.now: datetime | None = None

    def pass_by(self, now: datetime) -> None:
        """Note that a record arrived *now* that somebody else takes."""
        self.now = now

    def take(self, archived: ArchivedRecord, rulebook: Rulebook) -> Sequence[FindingsMessage]:
        """Return what coordinate is told because of *archived*."""
        self.now = archived.arrived_at
        self.counts["records"] += 1
        beat = self._beats.find(archived.body)
        if beat and self.states.is_told(beat.node, beat.spool, beat.first_seq):
            rack = beat.rack or (archived.place[-1] if archived.place else "")
            self._note(beat.node, archived.arrived_at, rack, own=beat.own)
            return ()
        found = read_record(Record(archived.id, archived.id, archived.lane, archived.body, archived.arrived_at))
        if isinstance(found, Reject):
            self.counts["rejected"] += 1
        elif found.is_canary:
            self.counts["canaries"] += 1
        else:
            key, arrivals = found.node, placed([found], archived.place)
            told = self._judge(key, arrivals, rulebook, archived.arrived_at)
            self._hear(key, archived, arrivals, found.delivery.parsed)
            return told
        return ()

    def _hear(self, key: NodeKey, archived: ArchivedRecord, arrivals: Sequence[Arrival], said: ParsedEnvelope) -> None:
        envelope = arrivals[0].delivery.parsed.envelope
        own = is_sign_of_life(envelope)
        self._note(key, archived.arrived_at, _rack(envelope), own=own)
        if envelope.jobs:
            self._books_of(key.cluster).progress.note({key: arrivals})
        elif not envelope.events and not said.rejected:
            beat = Heartbeat(key, envelope.spool_id, envelope.first_seq, _rack(said.envelope), own)
            self._beats.learn(archived.body, beat)
        if envelope.events and (job := envelope.events[0].job):
            self.runs.setdefault(Run(key.cluster, job.id), set()).add(key.instance_id)

    def _note(self, key: NodeKey, at: datetime, rack: str, *, own: bool) -> None:
        self.touched[key] = at
        if rack:
            self.racks[key] = rack
        if own:
            self.heard.setdefault(key.cluster, {})[key.instance_id] = at

    def _judge(
        self, key: NodeKey, arrivals: Sequence[Arrival], rulebook: Rulebook, now: datetime
    ) -> Sequence[FindingsMessage]:
        envelope = arrivals[0].delivery.parsed.envelope
        is_heartbeat = not envelope.events and not arrivals[0].delivery.parsed.rejected
        if is_heartbeat and self.states.is_told(key, envelope.spool_id, envelope.first_seq):
            return ()
        asked = rulebook.asks_facts and any(map(rulebook.facts_asked, envelope.events))
        facts = self._books_of(key.cluster).facts.of({key: arrivals}, rulebook, now) if asked else {}
        state = self.states.load(key)
        try:
            one = judge_node(arrivals, state, rulebook, now, facts.get(key, NOTHING_KNOWN))
        except Exception as error:  # noqa: BLE001 - as triage does: it is this node's alone
            self.counts["rejected"] += len(spoilt_by(error, arrivals))
            self.states.drop(key)  # triage has its text still; here nobody knows how far it was changed
            return ()
        self._count(one)
        if one.changed:
            self.states.keep(key, one.state or state)
        if not one.findings and not one.contributions and not one.cancellations:
            return ()
        ended = pack_cancellations((key.cluster, each) for each in one.cancellations)
        return [*pack(one.findings), *pack_contributions(one.contributions), *ended]

    def _count(self, one: Evaluation) -> None:
        counts = self.counts
        counts["events"] += one.events
        counts["repeats"] += one.repeats
        counts["matches"] += one.matches
        counts["findings"] += len(one.findings)
        counts["rejected"] += len(one.rejected)
        for gap in one.gaps:
            counts["lost"] += gap.last - gap.first + 1
        for refused in one.refused:
            counts[f"unanswered: {refused.policy}: {refused.path} {refused.reason}"] += refused.times

    def living(self, cluster: str, racks: Collection[str]) -> Mapping[str, int]:
        """Return how many nodes of *cluster*, and of its *racks*, were heard lately: the port `Sizes`."""
        since = None if self.now is None else self.now - LATELY
        heard = self.heard.get(cluster, {}).items()
        alive = [name for name, at in heard if since is not None and at >= since]
        placed = Counter(self.racks.get(NodeKey(cluster, name), "") for name in alive)
        return {rack: placed[rack] if rack else len(alive) for rack in racks}

    def sizes_of_clusters(self) -> Mapping[str, int]:
        """Return how many nodes each cluster had at most, of those that speak for themselves."""
        return self.most | {name: max(self.most.get(name, 0), len(heard)) for name, heard in self.heard.items()}

    def _books_of(self, cluster: str) -> Books:
        found = self._books.get(cluster)
        if found is None:
            found = self._books[cluster] = self._open_books(cluster)
        return found

    def begin_day(self, now: datetime) -> None:
        """Drop what the fleet table would have dropped by *now*, and go on with other books."""
        self._books.clear()
        self.most.update(self.sizes_of_clusters())
        for key in [key for key, at in self.touched.items() if now - at > KEPT]:
            self.touched.pop(key)
            self.states.drop(key)
            self.racks.pop(key, None)
            self.heard.get(key.cluster, {}).pop(key.instance_id, None)


def _rack(envelope: Envelope) -> str:
    path = envelope.node.network_path
    return path[-1] if path else ""
