"""Coordinate's decisions on a store in memory, reading only what a decision asks for, as coordinate does."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from policies.contract.decisions import Answer, AnyMessage, AskMessage, SweepMessage
from policies.coordination.asking_again import LONGEST
from policies.coordination.decide import decide, keys_behind, keys_of, policies_of
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore
from policies.coordination.missing import runs_to_look_up
from policies.coordination.snapshot import Decision, Keys
from policies.coordination.sparing import asks_capacity, nodes_to_ask
from policies.coordination.switches import ALL_ACTIVE, Switches
from policies.facts.capacity import Capacity
from policies.facts.maintenance import Maintenance
from tests.tools.incidents import CLUSTER, RULES, at


class DecisionTable:
    """Takes messages at so many seconds from the start, and commits what is decided."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.switches = ALL_ACTIVE
        self.maintenance: dict[str, Maintenance] = {}
        self.capacity: Capacity | None = None

    def decide(self, seconds: float, *messages: AnyMessage) -> Decision:
        sweeping = any(isinstance(message, SweepMessage) for message in messages)
        denied = self.store.list_denied(CLUSTER, at(seconds) - LONGEST) if sweeping else ()
        listed = (*self.store.list_running(CLUSTER), *denied) if sweeping else ()
        first = self.store.read(CLUSTER, keys_of(messages, listed))
        named = policies_of(first, messages)
        first = replace(first, switches=self._read_switches(named)) if named else first
        asked = {each: self.maintenance[each] for each in nodes_to_ask(first, messages) if each in self.maintenance}
        first = replace(first, maintenance=asked, capacity=self.capacity if asks_capacity(first) else None)
        ended = self.store.list_open(CLUSTER, runs_to_look_up(first, messages))
        behind = keys_behind(first, messages, at(seconds), RULES) | Keys(incidents=frozenset(ended))
        snapshot = first.merged(self.store.read(CLUSTER, behind))
        decision = decide(snapshot, messages, at(seconds), rules=RULES)
        assert not decision.refused
        return decision

    def _read_switches(self, policies: Collection[str]) -> Switches:
        """Return what the table of policies says of *policies* alone: of all others it says nothing."""
        on = self.switches
        modes = {each: on.modes.get(each, on.otherwise) for each in policies}
        shadows = {name: each for name, each in on.shadows.items() if name in policies}
        return Switches(modes, on.stop, shadows=shadows, revisions=on.revisions)

    def commit(self, decision: Decision) -> None:
        for shadow in decision.shadows:
            self.switches = self.switches.with_shadow(shadow)
        for change in (change for changes in (*decision.rounds, decision.past) for change in changes):
            self.store.write(change)

    def take(self, seconds: float, *messages: AnyMessage) -> Decision:
        decision = self.decide(seconds, *messages)
        self.commit(decision)
        return decision

    def answer(self, seconds: float, message: AskMessage) -> Answer:
        (reply,) = self.take(seconds, message).replies
        return reply.answer

    @property
    def incidents(self) -> Sequence[Incident]:
        return sorted(self.store.all_incidents(), key=lambda each: each.opened_at)

    @property
    def incident(self) -> Incident:
        (only,) = self.store.all_incidents()
        return only

    def job(self, name: str = "train/llm") -> Job | None:
        return self.store.read(CLUSTER, Keys(jobs=frozenset({name}))).jobs.get(name)
