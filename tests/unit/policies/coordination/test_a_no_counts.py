"""What a person refused is not asked again, nor done, while the refusal holds; all else is as if nobody had said no."""

import pytest

from policies.contract.decisions import Finding, PolicyPlan
from policies.contract.events import Component
from policies.contract.restraints import ApproveMessage
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, ComponentType, Kind, PolicyMode
from policies.coordination.incident import Incident
from policies.coordination.snapshot import Keys
from policies.coordination.states import IncidentStatus
from policies.coordination.switches import Switches
from policies.facts.capacity import Capacity
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, JOB, POLICY, ask, at, finding, findings, plan

MINUTE, HOUR = 60.0, 3600.0
ASKS = plan(approval=True, settle=0)
NO_AT = 90.0
ENDS = NO_AT + 4 * HOUR
FULL = Capacity(at=at(0), spares=0, reserved=8, reserved_free=0, headroom=4)


def no(
    incident: Incident,
    seconds: float,
    *,
    hours: float | None = None,
    by: str = "kim",
    reason: str = "a firmware test",
    seen: int | None = None,
) -> ApproveMessage:
    return ApproveMessage(
        cluster=CLUSTER,
        incident=incident.id,
        by=by,
        reason=reason,
        approved=False,
        at=at(seconds),
        for_seconds=None if hours is None else hours * HOUR,
        seen=seen,
    )


def seen(seconds: float, policy: PolicyPlan = ASKS, **more: object) -> Finding:
    """Return what was seen at that second, under a name of its own."""
    change = {"component": more.pop("component")} if "component" in more else {}
    name = f"{policy.name}-{policy.revision}-{more.get('kind', '')}-{more.get('epoch', 0)}-{seconds}"
    made = finding(name=name, policy=policy, seen=at(seconds), **more)  # type: ignore[arg-type]
    return made.model_copy(update=change)


def gpu(index: int) -> Component:
    return Component(type=ComponentType.GPU, index=index)


def denied(first: Finding | None = None, hours: float | None = None) -> DecisionTable:
    table = DecisionTable()
    table.take(0, findings(first or seen(0)))
    assert table.answer(1, ask(table.incident.id)).verdict == "parked"
    table.take(NO_AT, no(table.incident, NO_AT, hours=hours))
    assert (table.incident.status, table.incident.outcome) == (IncidentStatus.CLOSED, "denied")
    return table


def pages(table: DecisionTable) -> int:
    return sum(entry.alert == "page" for each in table.incidents for entry in each.timeline)


def opened(table: DecisionTable) -> list[Incident]:
    return [each for each in table.incidents if each.status.is_open]


def test_the_very_next_findings_are_counted_in_one_incident_and_nobody_is_paged_again() -> None:
    table = denied()
    for minute in range(2, 239):
        table.take(minute * MINUTE + 1, findings(seen(minute * MINUTE)))
    first, recorded = table.incidents
    assert pages(table) == 1
    assert (recorded.outcome, recorded.findings[0].times) == ("recorded", 237)
    assert recorded.timeline[-1].alert == "notify"
    assert recorded.reason.endswith(
        "denied by kim at 2026-03-01 10:01:30 UTC until 2026-03-01 14:01:30 UTC: a firmware test"
    )
    assert recorded.facts["denied"] == first.id
    assert first.reason == "by kim: a firmware test; nobody is asked again until 2026-03-01 14:01:30 UTC"


def test_what_comes_seldom_is_one_incident_as_well() -> None:
    table = denied(hours=48)
    for hour in range(1, 48):
        table.take(hour * HOUR, findings(seen(hour * HOUR)))
    assert [each.findings[0].times for each in table.incidents] == [1, 47]
    late = seen(47.5 * HOUR).model_copy(update={"late": True})
    table.take(47.6 * HOUR, findings(late))
    assert [each.findings[0].times for each in table.incidents] == [1, 48]


def test_once_it_is_over_a_person_is_asked_again_once_and_told_who_said_no() -> None:
    table = denied()
    table.take(ENDS - 1, findings(seen(ENDS - 1)))
    assert opened(table) == []
    table.take(ENDS, findings(seen(ENDS - 0.5)))
    (asking,) = opened(table)
    assert table.answer(ENDS + 1, ask(asking.id)).verdict == "parked"
    (asking,) = opened(table)
    assert asking.reason.endswith("; it was denied before by kim at 2026-03-01 10:01:30 UTC: a firmware test")
    assert pages(table) == 2
    table.take(ENDS + 60, findings(seen(ENDS + 60)))
    assert len(opened(table)) == 1
    assert pages(table) == 2


def other_revision() -> Finding:
    return seen(120, ASKS.model_copy(update={"revision": 4}))


NOT_DENIED = {
    "another policy": seen(120, plan(name="other", approval=True, settle=0)),
    "another part": seen(120, component=gpu(1)),
    "another kind of fault": seen(120, kind=Kind.HOST_PANIC),
    "another code": seen(120).model_copy(update={"attributes": {"xid": 95}}),
    "other hardware under the same instance": seen(120, epoch=1),
    "another instance": seen(120, node="i-2"),
    "an edit of the policy": other_revision(),
    "another job": seen(120, job=JOB.model_copy(update={"id": "train/other"})),
    "no job": seen(120, job=None),
}


@pytest.mark.parametrize("what", NOT_DENIED)
def test_nothing_else_is_held_back(what: str) -> None:
    told = NOT_DENIED[what]
    table = denied(seen(0, component=gpu(0)) if what == "another part" else None)
    assert len(table.take(121, findings(told)).starts) == 1
    (other,) = opened(table)
    assert table.answer(122, ask(other.id)).verdict == "parked"
    table.take(180, findings(seen(180, component=gpu(0)) if what == "another part" else seen(180)))
    assert pages(table) == 2


def test_a_node_that_dies_after_its_replacement_was_denied_is_acted_on_at_once() -> None:
    table = DecisionTable()
    table.capacity = FULL
    table.take(0, findings(seen(0, plan(settle=0), kind=Kind.GPU_SLOWDOWN)))
    assert table.answer(1, ask(table.incident.id)).verdict == "parked"
    table.take(60, no(table.incident, 60, reason="we do without"))
    table.take(120, findings(seen(120, plan(settle=0), kind=Kind.GPU_SLOWDOWN)))
    assert opened(table) == []
    table.take(180, findings(seen(180, plan(settle=0), kind=Kind.NODE_SILENT)))
    (dead,) = opened(table)
    assert table.answer(181, ask(dead.id)).rung is Rung.ISOLATE


def test_a_death_that_was_seen_before_the_no_and_comes_after_it_is_no_history() -> None:
    table = DecisionTable()
    table.take(0, findings(seen(0)))
    table.answer(1, ask(table.incident.id))
    table.take(60, no(table.incident, 60))
    panics = plan(name="host-panic", settle=0)
    table.take(62, findings(seen(59, panics, kind=Kind.HOST_PANIC)))
    (dead,) = opened(table)
    assert table.answer(63, ask(dead.id)).rung is Rung.ISOLATE


def test_what_joined_after_a_person_had_looked_is_not_refused() -> None:
    table = DecisionTable()
    table.take(0, findings(seen(0, component=gpu(0))))
    table.answer(1, ask(table.incident.id))
    looked = table.incident.version
    table.take(30, findings(seen(30, component=gpu(1))))
    table.take(60, no(table.incident, 60, seen=looked))
    table.take(120, findings(seen(120, component=gpu(0))))
    assert opened(table) == []
    table.take(130, findings(seen(130, component=gpu(1))))
    assert len(opened(table)) == 1


def test_what_a_person_saw_of_the_asking_policies_is_refused_and_what_others_saw_is_not() -> None:
    table = DecisionTable()
    hard, low = plan(name="hard", approval=True), plan(name="low", priority=-5)
    table.take(
        0, findings(seen(0, plan(approval=True), component=gpu(0)), seen(1, hard, component=gpu(1)), seen(2, low))
    )
    table.answer(30, ask(table.incident.id))
    table.take(60, no(table.incident, 60))
    table.take(120, findings(seen(120, plan(approval=True), component=gpu(0)), seen(121, hard, component=gpu(1))))
    assert opened(table) == []
    table.take(130, findings(seen(130, low)))
    assert len(opened(table)) == 1


def test_a_no_is_lifted_and_the_next_finding_asks() -> None:
    table = denied()
    first = table.incident
    table.take(120, findings(seen(119)))
    table.take(180, no(first, 180, hours=0, by="lee", reason="the test is over"))
    table.take(240, findings(seen(239)))
    (asking,) = opened(table)
    table.answer(241, ask(asking.id))
    (asking,) = opened(table)
    assert "denied before by kim" in asking.reason


def test_a_no_for_no_time_ends_the_incident_alone() -> None:
    table = denied(hours=0)
    assert table.incident.reason == "by kim: a firmware test"
    table.take(120, findings(seen(119)))
    assert len(opened(table)) == 1


def test_a_yes_to_a_later_incident_ends_it() -> None:
    table = denied()
    newer = plan(approval=True, settle=0).model_copy(update={"revision": 4})
    table.take(120, findings(seen(120, newer)))
    (asking,) = opened(table)
    table.answer(121, ask(asking.id))
    table.take(122, findings(seen(122)))  # of the revision that was denied: a note
    table.take(130, ApproveMessage(cluster=CLUSTER, incident=asking.id, by="lee", reason="go on"))
    assert table.answer(131, ask(asking.id, attempt=2)).verdict == "act"
    lease = table.store.read(CLUSTER, Keys(leases=frozenset({"i-1#0"}))).leases["i-1#0"]
    assert lease.refusals == ()


def test_of_two_words_the_later_counts_whichever_comes_first() -> None:
    for order in ((0, 1), (1, 0)):
        table = denied()
        words = (no(table.incident, 200, hours=12, by="lee"), no(table.incident, 300, hours=1, by="ann"))
        for which in order:
            table.take(400 + which, words[which])
        assert table.incident.reason.startswith("by ann")
        table.take(300 + HOUR - 5, findings(seen(300 + HOUR - 5)))
        assert opened(table) == []
        table.take(300 + HOUR + 5, findings(seen(300 + HOUR + 4)))
        assert len(opened(table)) == 1


def test_said_twice_it_holds_once_and_a_word_of_before_brings_nothing_back() -> None:
    table = denied()
    first = table.incident
    kim = no(first, NO_AT)
    assert not table.take(100, kim).incidents
    table.take(180, no(first, 180, hours=0, by="lee"))
    assert not table.take(200, kim).incidents
    assert not table.take(210, no(first, 180, hours=0, by="lee")).leases
    table.take(240, findings(seen(239)))
    assert len(opened(table)) == 1


def test_an_answer_without_a_time_as_older_commands_send_it_holds_for_the_usual_time_and_is_taken_once() -> None:
    table = DecisionTable()
    table.take(0, findings(seen(0)))
    table.answer(1, ask(table.incident.id))
    plain = ApproveMessage(cluster=CLUSTER, incident=table.incident.id, by="kim", approved=False)
    table.take(NO_AT, plain)
    assert not table.take(7000, plain).incidents
    table.take(ENDS - 5, findings(seen(ENDS - 6)))
    assert opened(table) == []
    table.take(ENDS + 5, findings(seen(ENDS + 4)))
    assert len(opened(table)) == 1


def test_a_clock_that_goes_wrong_where_it_was_said_changes_little() -> None:
    for said in (-9 * HOUR, 9 * HOUR):
        table = DecisionTable()
        table.take(0, findings(seen(0)))
        table.answer(1, ask(table.incident.id))
        table.take(NO_AT, no(table.incident, said))
        table.take(3.9 * HOUR, findings(seen(3.9 * HOUR)))
        assert opened(table) == []
        table.take(4.1 * HOUR, findings(seen(4.1 * HOUR)))
        assert len(opened(table)) == 1


def test_whoever_dies_between_the_lease_and_the_incident_is_made_up_for() -> None:
    table = DecisionTable()
    table.take(0, findings(seen(0)))
    table.answer(1, ask(table.incident.id))
    word = no(table.incident, NO_AT)
    for change in table.decide(NO_AT, word).leases:
        table.store.write(change)
    table.take(120, findings(seen(119)))
    assert sorted(each.status for each in table.incidents) == [IncidentStatus.CLOSED, IncidentStatus.PARKED]
    yes = ApproveMessage(cluster=CLUSTER, incident=table.incidents[0].id, by="lee")
    table.take(125, yes)
    assert table.incidents[0].status is IncidentStatus.PARKED
    table.take(130, word)
    assert (table.incidents[0].outcome, table.incidents[1].findings[0].times) == ("denied", 1)
    assert pages(table) == 1


def test_a_word_on_an_incident_that_was_not_denied_changes_nothing() -> None:
    table = DecisionTable()
    table.take(0, findings(seen(0)))
    table.answer(1, ask(table.incident.id))
    table.take(60, ApproveMessage(cluster=CLUSTER, incident=table.incident.id, by="lee"))
    decision = table.take(61, no(table.incident, 61))
    assert (decision.incidents, decision.leases) == ((), ())


def test_a_word_that_comes_while_the_next_incident_settles_calls_it_off() -> None:
    table, slow = DecisionTable(), plan(approval=True, settle=30)
    table.take(0, findings(seen(0, slow)))
    table.answer(31, ask(table.incident.id))
    first = table.incident
    table.take(NO_AT, no(first, NO_AT, hours=0))
    table.take(120, findings(seen(119, slow)))
    (settling,) = opened(table)
    table.take(130, no(first, 130, hours=4))
    assert table.answer(151, ask(settling.id)).verdict == "closed"
    assert pages(table) == 1


def test_a_finding_that_joins_what_works_on_the_node_asks_for_nothing() -> None:
    table = denied()
    acting = plan(Action.ISOLATE, name="isolates", settle=0)
    table.take(120, findings(seen(120, acting)))
    (busy,) = opened(table)
    assert table.answer(121, ask(busy.id)).rung is Rung.ISOLATE
    table.take(130, findings(seen(130)))
    (busy,) = opened(table)
    assert busy.timeline[-1].stage == "joined"
    assert pages(table) == 1


def test_the_no_to_a_run_holds_for_all_its_nodes() -> None:
    stops = plan(Action.SUSPEND_JOB, Action.RESUME_JOB, approval=True, settle=0)
    table = DecisionTable()
    table.take(0, findings(seen(0, stops)))
    table.answer(1, ask(table.incident.id))
    table.take(60, no(table.incident, 60))
    table.take(120, findings(seen(119, stops, node="i-2")))
    assert opened(table) == []
    table.take(130, findings(seen(129, stops, node="i-2", job=JOB.model_copy(update={"id": "train/other"}))))
    assert len(opened(table)) == 1


def test_a_policy_in_shadow_or_off_says_so_first() -> None:
    table = denied()
    table.switches = Switches({POLICY: PolicyMode.OFF})
    table.take(120, findings(seen(119)))
    assert "denied" not in table.incidents[-1].reason


def test_an_incident_and_a_lease_of_before_are_read_and_their_no_holds_nothing() -> None:
    table = denied()
    incident = table.incident
    old = incident.model_dump(mode="json", exclude={"denials"})
    for note in old["findings"]:
        del note["job"]
    read = Incident.model_validate(old)
    assert (read.denials, read.findings[0].job) == ((), None)
    lease = table.store.read(CLUSTER, Keys(leases=frozenset({"i-1#0"}))).leases["i-1#0"]
    assert type(lease).model_validate(lease.model_dump(mode="json", exclude={"refusals"})).refusals == ()
    assert type(lease).model_validate(lease.model_dump(mode="json")) == lease
