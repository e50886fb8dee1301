"""`off`, `shadow` and stop apply at once, whatever revision an incident was opened under."""

from itertools import pairwise
from typing import Any

import pytest

from policies.contract.decisions import Answer, AskMessage, SweepMessage
from policies.contract.rungs import Rung, RungStatus
from policies.contract.vocabulary import PolicyMode
from policies.coordination.decide import decide, keys_behind, policies_of
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore
from policies.coordination.snapshot import Decision, Keys, Snapshot
from policies.coordination.states import IncidentStatus
from policies.coordination.switches import ALL_ACTIVE, Switches, stop_of
from tests.tools.incidents import CLUSTER, POLICY, RULES, ask, at, finding, findings, plan, report

OFF = Switches({POLICY: PolicyMode.OFF})
SHADOW = Switches({POLICY: PolicyMode.SHADOW})
STOP = Switches({POLICY: PolicyMode.ACTIVE}, stop="everything is stopped by kim: a bad image")
ALL_OFF = [OFF, SHADOW, STOP, Switches()]
PLAN = (
    Rung.ISOLATE,
    Rung.COLLECT_EVIDENCE,
    Rung.SUSPEND_JOB,
    Rung.REPLACE_NODE,
    Rung.VERIFY_NODE,
    Rung.CHOOSE_CHECKPOINT,
    Rung.RESUME_JOB,
    Rung.CONFIRM_RESUME,
)
SWEEP = SweepMessage(cluster=CLUSTER, at=at(0))
KEYS = Keys(leases=frozenset({"i-1#0"}), jobs=frozenset({"train/llm"}))


class Table:
    """Coordinate without its function, with switches that a test sets."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.switches = ALL_ACTIVE
        self.step = 0
        self.seconds = 0.0

    def take(self, *messages: object) -> Decision:
        self.seconds += 1
        keys = KEYS | Keys(frozenset(each.id for each in self.store.all_incidents()))
        snapshot = self.store.read(CLUSTER, keys)
        snapshot = Snapshot(CLUSTER, snapshot.incidents, snapshot.leases, snapshot.jobs, switches=self.switches)
        decision = decide(snapshot, messages, at(self.seconds), rules=RULES)  # type: ignore[arg-type]
        assert not decision.refused
        for change in (change for changes in decision.rounds for change in changes):
            self.store.write(change)
        return decision

    def open(self) -> "Table":
        self.take(findings(finding(policy=plan(settle=0))))
        return self

    def ask(self, rung: Rung | None = None, status: RungStatus = RungStatus.DONE) -> Answer:
        """Ask with a report of this rung; the one who asks is told."""
        message = ask(self.incident.id, self.step, report=report(rung, status) if rung else None)
        self.step += 1
        return self.send(message)

    def send(self, message: AskMessage) -> Answer:
        (reply,) = self.take(message).replies
        return reply.answer

    def upto(self, rung: Rung) -> "Table":
        """Let everything before *rung* be done; *rung* was handed to its executor."""
        answer = self.ask()
        for done in PLAN[: PLAN.index(rung)]:
            assert answer.rung is done
            answer = self.ask(done)
        assert answer.rung is rung
        return self

    @property
    def incident(self) -> Incident:
        return self.store.all_incidents()[0]


@pytest.mark.parametrize("switches", ALL_OFF)
def test_nothing_opens(switches: Switches) -> None:
    table = Table()
    table.switches = switches
    table.open()
    assert (table.incident.status, table.incident.outcome) == (IncidentStatus.CLOSED, "recorded")
    assert switches.why_not(POLICY) in table.incident.reason
    assert table.incident.timeline[-1].alert == "notify"


@pytest.mark.parametrize("switches", ALL_OFF)
def test_what_has_touched_nothing_is_recorded(switches: Switches) -> None:
    table = Table().open()
    table.switches = switches
    assert table.ask().verdict == "closed"
    assert (table.incident.outcome, table.incident.acted) == ("recorded", False)
    assert table.incident.reason == f"{switches.why_not(POLICY)}; nothing was touched"
    lease = table.store.read(CLUSTER, KEYS).leases["i-1#0"]
    assert (lease.released, lease.outcome) == (True, "recorded")


def test_a_fault_that_another_policy_saw_too_is_somebodys_to_know() -> None:
    table = Table().open()
    other = plan().model_copy(update={"name": "other"})
    table.take(findings(finding(name="of-other", policy=other)))
    table.switches = Switches({POLICY: PolicyMode.OFF, "other": PolicyMode.ACTIVE})
    table.ask()
    assert table.incident.reason.endswith("other saw this node too, and nobody acts on it")
    assert table.incident.timeline[-1].alert == "page"


@pytest.mark.parametrize("switches", ALL_OFF)
@pytest.mark.parametrize("rung", PLAN[:3])
def test_it_stops_before_the_next_rung_that_takes_something_away(switches: Switches, rung: Rung) -> None:
    table = Table().open().upto(rung)
    table.switches = switches
    answer = table.ask(rung)
    assert answer.verdict == "parked"
    assert table.incident.status is IncidentStatus.PARKED
    expected = f"{switches.why_not(POLICY)}: stopped at {PLAN[PLAN.index(rung) + 1]}"
    stopped = "; run train/llm is stopped and stays so" if rung is Rung.SUSPEND_JOB else ""
    assert table.incident.reason == expected + stopped
    assert table.incident.timeline[-1].alert == "page"


def test_a_rung_under_way_is_not_begun_again() -> None:
    table = Table().open().upto(Rung.SUSPEND_JOB)
    table.switches = OFF
    assert table.ask(Rung.SUSPEND_JOB, RungStatus.WAITING).verdict == "parked"


@pytest.mark.parametrize("switches", ALL_OFF)
def test_once_the_node_is_replaced_the_run_is_brought_back(switches: Switches) -> None:
    table = Table().open().upto(Rung.REPLACE_NODE)
    table.switches = switches
    for done, following in pairwise(PLAN[3:]):
        assert table.ask(done).rung is following
    assert table.ask(Rung.CONFIRM_RESUME).verdict == "closed"
    assert table.incident.outcome == "replaced"


def test_a_replacement_under_way_goes_on() -> None:
    table = Table().open().upto(Rung.REPLACE_NODE)
    table.switches = OFF
    assert table.ask(Rung.REPLACE_NODE, RungStatus.WAITING).rung is Rung.REPLACE_NODE
    assert table.ask(Rung.REPLACE_NODE).rung is Rung.VERIFY_NODE


def test_a_replacement_of_which_nobody_heard_does_not() -> None:
    table = Table().open().upto(Rung.REPLACE_NODE)
    table.switches = OFF
    assert table.ask().verdict == "parked"


def test_an_act_whose_answer_was_lost_is_not_told_again() -> None:
    table = Table().open().upto(Rung.SUSPEND_JOB)
    fence = table.incident.fence
    table.switches = OFF
    again = ask(table.incident.id, table.step - 1, token="another")
    assert table.send(again).verdict == "parked"
    assert table.incident.fence == fence + 1  # whoever got the first answer is stopped
    assert table.send(again.model_copy(update={"task_token": "third"})).verdict == "parked"


def test_switched_on_again_a_running_incident_goes_on_and_a_parked_one_does_not() -> None:
    table = Table().open().upto(Rung.REPLACE_NODE)
    table.switches = OFF
    assert table.ask(Rung.REPLACE_NODE, RungStatus.WAITING).verdict == "act"
    table.switches = ALL_ACTIVE
    assert table.ask(Rung.REPLACE_NODE).verdict == "act"
    parked = Table().open().upto(Rung.ISOLATE)
    parked.switches = OFF
    parked.ask(Rung.ISOLATE)
    parked.switches = ALL_ACTIVE
    assert parked.ask().verdict == "parked"


@pytest.mark.parametrize(
    ("rung", "status"),
    [
        (Rung.ISOLATE, IncidentStatus.PARKED),
        (Rung.SUSPEND_JOB, IncidentStatus.PARKED),
        (Rung.REPLACE_NODE, IncidentStatus.ACTING),  # handed over: only its next ask tells whether it has begun
        (Rung.VERIFY_NODE, IncidentStatus.ACTING),
        (Rung.RESUME_JOB, IncidentStatus.RESUMING),
    ],
)
def test_the_sweep_stops_what_is_in_the_middle_of_a_rung(rung: Rung, status: IncidentStatus) -> None:
    table = Table().open().upto(rung)
    table.switches = OFF
    table.take(SWEEP)
    assert table.incident.status is status


def test_an_act_whose_answer_was_lost_before_the_sweep_parked_it_is_not_told_again() -> None:
    table = Table().open().upto(Rung.SUSPEND_JOB)
    table.switches = OFF
    table.take(SWEEP)
    again = table.send(ask(table.incident.id, table.step - 1, token="another"))
    assert (again.verdict, again.rung) == ("parked", None)


def test_the_sweep_calls_off_what_has_touched_nothing() -> None:
    table = Table().open()
    table.switches = STOP
    decision = table.take(SWEEP)
    assert (table.incident.status, table.incident.outcome) == (IncidentStatus.CLOSED, "recorded")
    assert not decision.starts


def test_what_is_read_for_a_batch() -> None:
    table = Table().open()
    snapshot = table.store.read(CLUSTER, Keys(frozenset({table.incident.id})))
    assert policies_of(snapshot, [ask(table.incident.id)]) == {POLICY}
    other = finding("i-2", policy=plan().model_copy(update={"name": "other"}))
    assert policies_of(Snapshot(CLUSTER), [findings(other)]) == {"other"}
    assert policies_of(snapshot, []) == frozenset()
    halted = Snapshot(CLUSTER, snapshot.incidents, switches=OFF)
    assert keys_behind(halted, [SWEEP], at(1), RULES).leases == {"i-1#0"}
    assert not keys_behind(snapshot, [SWEEP], at(1), RULES)


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (None, ""),
        ({"mode": "active"}, ""),
        ({"mode": "off"}, "everything is stopped"),
        ({"mode": "of", "reason": "r"}, "everything is stopped: r"),
        ({}, "everything is stopped"),
        ({"mode": b"off", "reason": b"r", "edited_by": {"kim"}}, "everything is stopped"),
    ],
)
def test_what_a_switch_means(item: dict[str, Any] | None, why: str) -> None:
    assert stop_of(item) == why
