"""A replay: archived records in the order of their arrival, and between them whatever comes due on the virtual clock.

Decides what happens before what. At one moment: first changes of policies, then persons, then asks, then the sweep,
then the record. Between two moments nothing happens, so a month takes as long as its records. It must not know where
records come from, or what is made of the outcome.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from functions.ports.policies import Head
from functions.triage.facts import FactBook
from functions.triage.progress import ProgressBook
from policies.contract.archive import ArchivedRecord
from policies.contract.decisions import FindingsMessage
from policies.contract.vocabulary import Orchestrator
from policies.coordination.incident import Incident
from policies.moments import later
from simulator.agenda import Agenda
from simulator.coordination import Coordination
from simulator.facts import ReplayFacts
from simulator.in_force import InForce, Revisions
from simulator.nodes import Books, Nodes
from simulator.recorded import Recorded, Told
from simulator.rehearsal import Rehearsal
from simulator.store import ReplayStore
from simulator.surroundings import About, Remarks

SWEEP_EVERY = timedelta(minutes=1)  # infra/rules.py
AFTERMATH = timedelta(days=1)  # what was begun when the records end goes on: longer than any deadline of a policy
Midnight = Callable[[datetime], None]


@dataclass(frozen=True)
class Question:
    """What is asked of the past. ``candidate`` None: the policies as they were in force."""

    revisions: Revisions = field(default_factory=Revisions)
    recorded: Recorded = field(default_factory=Recorded)
    candidate: Sequence[Head] | None = None
    orchestrator: Orchestrator = Orchestrator.EKS
    time_scale: float = 1.0


class Replay:
    """One run. ``clock`` is the virtual time, None before the first record.

    ``telemetry`` hears what there is to remark about clusters, ``on_policies`` what about policies in force.
    """

    def __init__(self, question: Question) -> None:
        """Stand before the first record."""
        self.telemetry = Remarks()
        self.on_policies = Remarks()
        self.clock: datetime | None = None
        self.agenda = Agenda()
        self.store = ReplayStore()
        self.facts = ReplayFacts(self.store)
        self.nodes = Nodes(self._books)
        self.in_force = InForce(self.on_policies, question.revisions, question.candidate)
        self.rehearsal = Rehearsal(self.agenda, question.recorded, self.store.find, time_scale=question.time_scale)
        self._persons: list[Told] = list(reversed(question.recorded.answers()))
        self.coordination = Coordination(
            store=self.store,
            facts=self.facts,
            rehearsal=self.rehearsal,
            sizes=self.nodes,
            switches=self.in_force.switches,
            telemetry=self.telemetry,
            orchestrator=lambda _cluster: question.orchestrator,
            time_scale=question.time_scale,
        )

    def run(
        self,
        records: Iterable[ArchivedRecord],
        *,
        at_midnight: Midnight = lambda _day: None,
        is_mine: Callable[[bytes], bool] | None = None,
    ) -> None:
        """Take *records*, which come in their order, each once; *at_midnight* is called between two days.

        Of one whose body *is_mine* does not own nothing is taken, and the time passes as if it were.
        """
        for record in records:
            self.pass_to(record.arrived_at, at_midnight)
            rulebook = self.in_force.rulebook
            if is_mine is None or is_mine(record.body):
                self.tell(record.arrived_at, self.nodes.take(record, rulebook))
            else:
                self.nodes.pass_by(record.arrived_at)

    def tell(self, now: datetime, messages: Sequence[FindingsMessage]) -> None:
        """Have *messages* of one record decided at *now*."""
        if messages:
            self.coordination.take(messages, now)

    def pass_to(self, now: datetime, at_midnight: Midnight = lambda _day: None) -> None:
        """Let the time pass until *now*, with all that comes due; it never goes back."""
        clock = self.clock
        if clock is not None and now < clock:
            return
        if clock is None or now.date() != clock.date():
            self._pass_days(clock, now, at_midnight)
        self._pass(now)

    def _pass_days(self, clock: datetime | None, now: datetime, at_midnight: Midnight) -> None:
        midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        if clock is not None and midnight > clock:
            self._pass(midnight)
            self.nodes.begin_day(midnight)
            at_midnight(midnight)

    def _books(self, cluster: str) -> Books:
        """Return books that remember nothing: each day begins with new ones, whether it was resumed or not."""
        return Books(FactBook(self.facts, About(self.telemetry, cluster)), ProgressBook(self.facts, self.facts))

    def catch_up(self, clock: datetime) -> None:
        """Bring what history tells up to *clock*, of a replay that was kept then: it is not kept itself."""
        self.in_force.pass_to(clock)
        while self._persons and self._persons[-1].at <= clock:
            self._persons.pop()

    def finish(self) -> Iterator[Incident]:
        """Let what is under way end, and yield every incident."""
        if self.clock is not None:
            self._pass(later(self.clock, AFTERMATH))
        return self.store.everyone()

    def _pass(self, now: datetime) -> None:
        while (due := self._due(now)) is not None:
            is_new, self.clock = self.clock is None or due > self.clock, due
            self.in_force.pass_to(due)
            self._take_answers(due)
            while self.agenda.next_at is not None and self.agenda.next_at <= due:
                self.coordination.take([self.agenda.pop().ask], due)
            if is_new and due.second == 0 and due.microsecond == 0:  # once: not again for what one cluster asks then
                self.coordination.sweep(due)
        self.clock = now

    def _due(self, now: datetime) -> datetime | None:
        """Return the next moment until *now* at which something comes due, None when there is none."""
        found = self.agenda.next_at
        policies = self.in_force.next_at
        if policies is not None and (found is None or policies < found):
            found = policies
        if self._persons and (found is None or self._persons[-1].at < found):
            found = self._persons[-1].at
        sweep = self._next_sweep()
        if sweep is not None and (found is None or sweep < found):
            found = sweep
        if found is None or found > now:
            return None
        return found if self.clock is None or found > self.clock else self.clock

    def _next_sweep(self) -> datetime | None:
        if self.clock is None or self.store.rests:
            return None
        return self.clock.replace(second=0, microsecond=0) + SWEEP_EVERY

    def _take_answers(self, now: datetime) -> None:
        while self._persons and self._persons[-1].at <= now:
            told = self._persons.pop().message
            is_here = self.store.find(told.cluster, told.incident) is not None
            name = told.incident if is_here else self.rehearsal.followers.get(told.incident, "")
            if self.store.find(told.cluster, name) is not None:  # nobody answers what did not happen
                self.coordination.take([told.model_copy(update={"incident": name})], now)
