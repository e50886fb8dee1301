"""What a person refused is not asked again, nor done, while the refusal holds; all else is as if nobody had said no."""

from dataclasses import replace

import pytest

from policies.contract.decisions import Finding
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Kind
from policies.coordination.snapshot import Keys
from policies.coordination.switches import ALL_ACTIVE
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, JOB, ask, findings, plan
from tests.tools.refusals import ASKS, ENDS, FULL, HOUR, MINUTE, denied, denied_of_one, gpu, no, opened, pages, seen


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
    table = denied_of_one()
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


def test_a_part_of_which_only_old_news_came_was_not_refused() -> None:
    table = DecisionTable()
    table.take(0, findings(seen(0, component=gpu(0))))
    table.answer(1, ask(table.incident.id))
    table.take(30, findings(seen(20, component=gpu(1)).model_copy(update={"late": True})))
    table.take(60, no(table.incident, 60))
    table.take(120, findings(seen(120, component=gpu(1))))
    assert len(opened(table)) == 1


def test_each_finding_is_refused_for_the_run_that_it_was_about_or_for_none() -> None:
    table, slow = DecisionTable(), plan(approval=True, settle=30)
    table.take(0, findings(seen(0, slow, job=None), seen(5, slow)))
    table.answer(31, ask(table.incident.id))
    table.take(60, no(table.incident, 60))
    table.take(120, findings(seen(119, slow, job=None), seen(120, slow)))
    assert opened(table) == []
    table.take(130, findings(seen(130, slow, job=JOB.model_copy(update={"id": "train/other"}))))
    assert len(opened(table)) == 1


def test_words_that_sound_like_a_no_are_none() -> None:
    table = DecisionTable()
    table.switches = replace(ALL_ACTIVE, stop="denied by the provider: no capacity until Monday")
    for hour in (1, 3, 5):
        table.take(hour * HOUR, findings(seen(hour * HOUR)))
    assert [(each.findings[0].times, each.facts) for each in table.incidents] == [(1, {})] * 3


def test_what_comes_while_a_no_holds_is_counted_where_the_version_before_counted_it() -> None:
    """Both know it by its name with the lease alone: under another all would be told anew at each deployment."""
    table, again = denied(), seen(2 * MINUTE)
    table.take(2 * MINUTE + 1, findings(again))
    lease = table.store.read(CLUSTER, Keys(leases=frozenset({again.generation}))).leases[again.generation]
    assert [(each.sort, each.subject) for each in lease.told] == [("89634930308c4325", "e8753d817a01557a")]
