import pytest

from policies.contract.decisions import Answer, AskMessage
from policies.contract.rungs import Rung, RungStatus
from policies.contract.vocabulary import Action
from policies.coordination.decide import decide
from policies.coordination.incident import Incident
from policies.coordination.leases import release
from policies.coordination.memory import MemoryStore
from policies.coordination.rules import MOST_STEPS, Rules
from policies.coordination.snapshot import Change, Decision, Keys
from policies.coordination.states import IncidentStatus
from tests.tools.incidents import CLUSTER, RULES, ask, at, finding, findings, plan, report


class Table:
    """Coordinate without its function: decides on a store, and keeps what was decided."""

    def __init__(self, rules: Rules = RULES) -> None:
        self.store = MemoryStore()
        self.rules = rules
        self.id = ""

    def open(self, **changes: object) -> "Table":
        self.take(0, findings(finding(**changes)))  # type: ignore[arg-type]
        self.id = self.store.all_incidents()[0].id
        return self

    def take(self, seconds: float, *messages: object) -> Decision:
        keys = Keys(
            frozenset(each.id for each in self.store.all_incidents()),
            frozenset({"i-1#0", "run#train/llm"}),
            frozenset({"train/llm"}),
        )
        decision = decide(self.store.read(CLUSTER, keys), messages, at(seconds), rules=self.rules)  # type: ignore[arg-type]
        assert not decision.refused
        for change in (change for changes in decision.rounds for change in changes):
            self.store.write(change)
        return decision

    def answer(self, seconds: float, message: AskMessage) -> Answer:
        (reply,) = self.take(seconds, message).replies
        assert reply.token == message.task_token
        return reply.answer

    @property
    def incident(self) -> Incident:
        return self.store.all_incidents()[0]

    def acting(self) -> "Table":
        assert self.answer(25, ask(self.id)).verdict == "act"
        return self


def test_the_first_ask_waits_until_the_cause_has_settled() -> None:
    table = Table().open()
    answer = table.answer(5, ask(table.id))
    assert (answer.verdict, answer.wait_seconds, answer.step) == ("wait", 15, 1)


def test_a_wait_is_told_in_the_time_that_its_machine_scales() -> None:
    table = Table(Rules(RULES.orchestrators, time_scale=0.1)).open()
    assert table.answer(0.5, ask(table.id)).wait_seconds == pytest.approx(15)


def test_after_it_the_first_rung_comes_with_its_fence() -> None:
    table = Table().open()
    answer = table.answer(21, ask(table.id))
    assert (answer.verdict, answer.rung, answer.executor, answer.fence) == ("act", "isolate", "kubernetes", 1)


def test_the_same_ask_under_a_new_token_gets_the_same_answer_and_changes_nothing() -> None:
    table = Table().open()
    first = table.answer(21, ask(table.id, token="one"))
    version = table.incident.version
    decision = table.take(80, ask(table.id, token="two"))
    assert [(reply.token, reply.answer) for reply in decision.replies] == [("two", first)]
    assert table.incident.version == version


def test_the_same_ask_twice_in_one_batch() -> None:
    table = Table().open()
    decision = table.take(21, ask(table.id, token="one"), ask(table.id, token="two"))
    assert len({reply.answer.model_dump_json() for reply in decision.replies}) == 1
    assert table.incident.version == 2


def test_an_ask_older_than_the_last_is_waited_for_by_nobody() -> None:
    table = Table().open().acting()
    table.answer(30, ask(table.id, 1, report=report(Rung.ISOLATE)))
    decision = table.take(31, ask(table.id, 0, report=None))
    assert not decision.replies
    assert not decision.incidents


@pytest.mark.parametrize("attempt", [0, 2])
def test_another_attempt_is_fenced(attempt: int) -> None:
    table = Table().open()
    assert table.answer(21, ask(table.id, attempt=attempt)).verdict == "fenced"


def test_an_incident_that_is_not_there_stands_down() -> None:
    assert Table().answer(21, ask("absent")).verdict == "stand_down"


def test_a_done_rung_brings_its_facts_and_the_next_one() -> None:
    table = Table().open().acting()
    answer = table.answer(30, ask(table.id, 1, report=report(Rung.ISOLATE, when=at(28), taint="x")))
    assert answer.rung is Rung.COLLECT_EVIDENCE
    assert table.incident.facts == {"taint": "x"}
    assert table.incident.timeline[-1].stage == "isolated"
    assert table.incident.timeline[-1].at == at(28)


def test_a_report_of_the_future_is_dated_now() -> None:
    table = Table().open().acting()
    table.answer(30, ask(table.id, 1, report=report(Rung.ISOLATE, when=at(999))))
    assert table.incident.timeline[-1].at == at(30)


def test_a_report_of_another_rung_is_an_echo() -> None:
    table = Table().open().acting()
    answer = table.answer(30, ask(table.id, 1, report=report(Rung.REPLACE_NODE, new_instance="i-x")))
    assert answer.rung is Rung.ISOLATE
    assert table.incident.facts == {}


def test_a_waiting_report_gets_the_same_rung_again() -> None:
    table = Table().open().acting()
    waiting = report(Rung.ISOLATE, RungStatus.WAITING)
    assert table.answer(30, ask(table.id, 1, report=waiting)).rung is Rung.ISOLATE


def test_a_fenced_report_ends_the_execution_and_leaves_the_incident_to_the_sweep() -> None:
    table = Table().open().acting()
    failed = report(Rung.ISOLATE, RungStatus.FAILED, reason="fenced: attempt 2 took over")
    assert table.answer(30, ask(table.id, 1, report=failed)).verdict == "fenced"
    assert table.incident.status is IncidentStatus.ACTING


def test_a_failure_climbs_the_ladder_once_and_then_parks() -> None:
    policy = plan(Action.COLLECT_EVIDENCE, Action.ISOLATE, otherwise=(Action.REPLACE_NODE,))
    table = Table().open(policy=policy).acting()
    failed = report(Rung.ISOLATE, RungStatus.FAILED, reason="no such node")
    answer = table.answer(30, ask(table.id, 1, report=failed))
    assert (answer.rung, answer.fence, table.incident.turn) == (Rung.ISOLATE, 2, 1)
    answer = table.answer(40, ask(table.id, 2, report=failed))
    assert answer.verdict == "parked"
    assert answer.reason == "isolate failed: no such node"
    assert table.incident.fence == 3


def test_a_ladder_that_nobody_carries_out_says_so() -> None:
    table = Table().open(policy=plan(otherwise=(Action.REBOOT_NODE,))).acting()
    failed = report(Rung.ISOLATE, RungStatus.FAILED, reason="no such node")
    answer = table.answer(30, ask(table.id, 1, report=failed))
    assert answer.reason == "isolate failed: no such node; then reboot_node, which is carried out by nobody yet"


def test_a_page_in_the_middle_parks_there() -> None:
    table = Table().open(policy=plan(Action.ISOLATE, Action.PAGE_OPERATOR)).acting()
    answer = table.answer(30, ask(table.id, 1, report=report(Rung.ISOLATE)))
    assert answer.verdict == "parked"
    assert "asks for a person" in answer.reason


def test_a_run_that_is_stopped_and_not_resumed_is_not_forgotten() -> None:
    table = Table().open(policy=plan(Action.SUSPEND_JOB)).acting()
    table.answer(30, ask(table.id, 1, report=report(Rung.COLLECT_EVIDENCE)))
    answer = table.answer(40, ask(table.id, 2, report=report(Rung.SUSPEND_JOB)))
    assert answer.verdict == "parked"
    assert "does not resume it" in answer.reason


def test_errors_in_a_row_count_and_a_done_rung_forgets_them() -> None:
    table = Table().open().acting()
    answer = table.answer(30, ask(table.id, 1, error="isolate failed with X"))
    assert (answer.verdict, answer.wait_seconds) == ("wait", 30)
    assert table.answer(60, ask(table.id, 2)).rung is Rung.ISOLATE
    assert table.incident.falters == 1
    table.answer(61, ask(table.id, 3, report=report(Rung.ISOLATE)))
    assert table.incident.falters == 0


def test_a_parked_incident_answers_with_its_reason_and_is_not_written_again() -> None:
    table = Table().open(policy=plan(approval=True))
    assert table.answer(21, ask(table.id)).verdict == "parked"
    version = table.incident.version
    assert "approval" in table.answer(60, ask(table.id, 1)).reason
    assert table.incident.version == version


def test_the_deadline_counts_from_the_settled_cause() -> None:
    table = Table().open().acting()
    assert table.answer(919, ask(table.id, 1)).verdict == "act"
    answer = table.answer(920, ask(table.id, 2))
    assert answer.verdict == "parked"
    assert "deadline of 900 s passed at isolate" in answer.reason


def test_a_lease_that_somebody_else_holds_is_a_persons_to_judge() -> None:
    table = Table().open().acting()
    lease = table.store.read(CLUSTER, Keys(leases=frozenset({"i-1#0"}))).leases["i-1#0"]
    theirs = lease.model_copy(update={"incident": "other", "fence": 9, "version": lease.version + 1})
    table.store.write(Change(lease, theirs))
    assert table.answer(30, ask(table.id, 1)).verdict == "parked"
    assert table.store.read(CLUSTER, Keys(leases=frozenset({"i-1#0"}))).leases["i-1#0"] == theirs


def test_a_close_that_died_after_its_lease_was_released_is_finished() -> None:
    table = Table().open().acting()
    lease = table.store.read(CLUSTER, Keys(leases=frozenset({"i-1#0"}))).leases["i-1#0"]
    table.store.write(Change(lease, release(lease, "recovered", at(29)).model_copy(update={"version": 2})))
    assert table.answer(30, ask(table.id, 1)).verdict == "closed"


def test_an_execution_that_grows_long_hands_over_to_the_next_attempt() -> None:
    table = Table().open().acting()
    decision = table.take(30, ask(table.id, MOST_STEPS))
    assert [reply.answer.verdict for reply in decision.replies] == ["stand_down"]
    assert [(start.incident, start.attempt) for start in decision.starts] == [(table.id, 2)]
    assert table.incident.fence == 2
    assert table.answer(31, ask(table.id, MOST_STEPS + 1)).verdict == "fenced"
    assert table.answer(31, ask(table.id, attempt=2)).fence == 2
