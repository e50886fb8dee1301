from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from functions.acts.act import ActContext
from functions.acts.frame import carry_out
from functions.settings import ClusterSettings
from functions.twins.acts import MemoryActStore, MemoryLeaseReader
from policies.contract.decisions import RungReport, RungRequest
from policies.contract.errors import BadInputError, DependencyError
from policies.contract.rungs import Rung, RungStatus
from policies.coordination.decide import decide
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.memory import MemoryStore
from policies.coordination.snapshot import Change, Snapshot
from policies.coordination.states import IncidentStatus
from tests.tools.incidents import CLUSTER, RULES, START, at, finding, findings

SETTINGS = {CLUSTER: ClusterSettings(name=CLUSTER, orchestrator="eks")}


@dataclass
class Taint:
    """An act on one node: observes, taints once, counts. ``dies`` says when the process dies."""

    effects: int = 0
    tainted: bool = False
    dies: str = ""
    says: Callable[[ActContext], RungReport] = lambda context: context.done(node="n")
    seen: list[ActContext] = field(default_factory=list)

    def advance(self, context: ActContext) -> RungReport:
        self.seen.append(context)
        if self.dies == "before":
            raise DependencyError("the API does not answer.")
        if not self.tainted:
            self.tainted = True
            self.effects += 1
        if self.dies == "after":
            raise DependencyError("the answer was lost.")
        return self.says(context)


class DyingStore(MemoryActStore):
    """Dies once instead of keeping the report."""

    died = False

    def report(self, record: object, report: object, at: datetime) -> None:
        if not self.died:
            self.died = True
            raise DependencyError("the report could not be kept.")
        super().report(record, report, at)  # type: ignore[arg-type]


@dataclass
class Bench:
    """One opened incident and one act."""

    act: Taint = field(default_factory=Taint)
    documents: MemoryStore = field(default_factory=MemoryStore)
    now: datetime = START + timedelta(seconds=30)

    def __post_init__(self) -> None:
        decision = decide(Snapshot(CLUSTER), [findings(finding())], START, rules=RULES)
        for change in (change for changes in decision.rounds for change in changes):
            self.documents.write(change)
        self.incident: Incident = decision.incidents[0].after
        (lease,) = decision.leases
        assert isinstance(lease.after, Lease)
        self.lease: Lease = lease.after
        self.store = MemoryActStore(self.documents, CLUSTER)

    def request(self, **changes: object) -> RungRequest:
        request = RungRequest(cluster=CLUSTER, incident=self.incident.id, attempt=1, rung=Rung.ISOLATE, fence=1)
        return request.model_copy(update=changes)

    def carry(self, request: RungRequest | None = None) -> RungReport:
        return carry_out(
            request or self.request(),
            acts={Rung.ISOLATE: self.act},
            incidents=self.store,
            leases=MemoryLeaseReader(self.documents),
            clusters=SETTINGS,
            clock=lambda: self.now,
        )

    def change(self, **changes: object) -> None:
        after = self.incident.model_copy(update={**changes, "version": self.incident.version + 1})
        self.documents.write(Change(self.incident, after))
        self.incident = after

    def change_lease(self, **changes: object) -> None:
        after = self.lease.model_copy(update={**changes, "version": self.lease.version + 1})
        self.documents.write(Change(self.lease, after))
        self.lease = after

    def kept(self, attempt: int = 1) -> RungReport | None:
        return {act.attempt: act for act in self.store.load_acts(self.incident.id, Rung.ISOLATE)}[attempt].report


def test_an_act_runs_and_its_report_is_kept() -> None:
    bench = Bench()
    assert bench.carry().status is RungStatus.DONE
    assert bench.kept() == bench.carry()


def test_the_act_is_told_who_when_and_under_what() -> None:
    bench = Bench()
    bench.carry(bench.request(polls=4))
    (context,) = bench.act.seen
    assert (context.incident, context.node.instance_id, context.fence) == (bench.incident.id, "i-1", 1)
    assert (context.attempt, context.polls, context.now, context.intended_at) == (1, 4, at(30), at(30))
    assert context.cluster is SETTINGS[CLUSTER]
    assert context.deadline == bench.incident.deadline
    assert context.messages == bench.incident.messages
    assert [note.id for note in context.findings] == ["finding-of-i-1"]


def test_a_done_act_answers_what_it_kept_and_is_not_called_again() -> None:
    bench = Bench()
    first = bench.carry()
    bench.now = at(300)
    assert bench.carry() == first
    assert len(bench.act.seen) == 1


def test_a_waiting_act_is_called_again_with_its_first_intention_and_its_progress() -> None:
    bench = Bench(Taint(says=lambda context: context.waiting(5, "pods are there", pods=["a"])))
    assert bench.carry().wait_seconds == 5
    bench.now = at(60)
    bench.carry()
    assert [context.intended_at for context in bench.act.seen] == [at(30), at(30)]
    assert [dict(context.progress) for context in bench.act.seen] == [{}, {"pods": ["a"]}]


def test_a_failed_act_is_called_again_when_it_is_asked_again() -> None:
    bench = Bench(Taint(says=lambda context: context.failed("no capacity")))
    assert bench.carry().reason == "no capacity"
    bench.carry()
    assert len(bench.act.seen) == 2


@pytest.mark.parametrize(("asked", "given"), [(0, 1), (0.2, 1), (30, 30), (4000, 60)])
def test_waits_are_bounded(asked: float, given: float) -> None:
    bench = Bench(Taint(says=lambda context: context.waiting(asked, "wait")))
    assert bench.carry().wait_seconds == given


@pytest.mark.parametrize("dies", ["before", "after"])
def test_an_act_that_dies_is_done_once(dies: str) -> None:
    bench = Bench(Taint(dies=dies))
    with pytest.raises(DependencyError):
        bench.carry()
    bench.act.dies = ""
    assert bench.carry().status is RungStatus.DONE
    assert bench.act.effects == 1


def test_a_crash_between_the_act_and_its_record_does_nothing_twice() -> None:
    bench = Bench()
    bench.store = DyingStore(bench.documents, CLUSTER)
    with pytest.raises(DependencyError):
        bench.carry()
    assert bench.carry().status is RungStatus.DONE
    assert bench.act.effects == 1
    assert bench.kept()


def test_the_next_attempt_takes_what_is_done_and_keeps_the_first_intention() -> None:
    bench = Bench(Taint(says=lambda context: context.waiting(5, "wait")))
    bench.carry()
    bench.change(attempt=2)
    bench.change_lease(fence=2)
    bench.now = at(90)
    bench.act.says = lambda context: context.done()
    bench.carry(bench.request(attempt=2, fence=2))
    assert bench.act.seen[-1].intended_at == at(30)
    assert bench.act.effects == 1
    bench.change(attempt=3)
    bench.change_lease(fence=3)
    bench.carry(bench.request(attempt=3, fence=3))
    assert len(bench.act.seen) == 2


def test_the_next_attempt_goes_on_where_the_last_one_was() -> None:
    bench = Bench(Taint(says=lambda context: context.waiting(5, "repairing", repairing=True)))
    bench.carry()
    bench.change(attempt=2)
    bench.change_lease(fence=2)
    bench.carry(bench.request(attempt=2, fence=2))
    assert dict(bench.act.seen[-1].progress) == {"repairing": True}


def test_the_same_rung_of_the_ladder_is_another_act() -> None:
    bench = Bench()
    bench.carry()
    bench.change(turn=1)
    bench.change_lease(fence=2)
    bench.now = at(90)
    bench.carry(bench.request(fence=2))
    assert [context.intended_at for context in bench.act.seen] == [at(30), at(90)]


def fenced(bench: Bench, request: RungRequest | None = None) -> None:
    report = bench.carry(request)
    assert report.status is RungStatus.FAILED
    assert report.reason.startswith("fenced: ")
    assert not bench.act.seen


def test_another_fence_stops_it() -> None:
    bench = Bench()
    bench.change_lease(fence=2)
    fenced(bench)


def test_another_incident_on_the_node_stops_it() -> None:
    bench = Bench()
    bench.change_lease(incident="other")
    fenced(bench)


def test_a_released_or_expired_lease_stops_it() -> None:
    bench = Bench()
    bench.now = bench.lease.expires_at
    fenced(bench)
    bench.now = at(30)
    bench.change_lease(released=True)
    fenced(bench)


def test_another_attempt_stops_it() -> None:
    bench = Bench()
    fenced(bench, bench.request(attempt=2))


@pytest.mark.parametrize("status", [IncidentStatus.PARKED, IncidentStatus.CLOSED])
def test_an_incident_that_is_over_stops_it(status: IncidentStatus) -> None:
    bench = Bench()
    bench.change(status=status)
    fenced(bench)


def test_an_act_under_way_under_a_newer_fence_stops_it() -> None:
    bench = Bench(Taint(says=lambda context: context.waiting(5, "wait")))
    bench.change_lease(fence=2)
    bench.carry(bench.request(fence=2))
    bench.act.seen.clear()
    bench.change_lease(fence=1)
    fenced(bench)


def test_what_cannot_be_is_bad_input() -> None:
    bench = Bench()
    with pytest.raises(BadInputError, match="no incident"):
        bench.carry(bench.request(incident="absent"))
    with pytest.raises(BadInputError, match="no incident"):
        bench.carry(bench.request(cluster="sage"))
    with pytest.raises(BadInputError, match="does not carry out"):
        bench.carry(bench.request(rung=Rung.RESUME_JOB))
    with pytest.raises(BadInputError, match="not in CLUSTERS"):
        carry_out(
            bench.request(),
            acts={Rung.ISOLATE: bench.act},
            incidents=bench.store,
            leases=MemoryLeaseReader(bench.documents),
            clusters={},
            clock=lambda: bench.now,
        )


def test_an_outcome_too_large_for_a_state_is_refused_before_it_is_kept() -> None:
    bench = Bench(Taint(says=lambda context: context.done(listing="x" * 70_000)))
    with pytest.raises(BadInputError, match="keep it in S3 instead"):
        bench.carry()
    assert bench.kept() is None
