"""What was found while a no held and is never found again is asked for once the no is over, if it counts then."""

from collections.abc import Callable

import pytest

from policies.contract.decisions import CloseMessage, Finding, SweepMessage
from policies.contract.restraints import ApproveMessage, Cancellation, Hours
from policies.contract.rungs import Rung
from policies.contract.vocabulary import EvidenceRule, PolicyMode
from policies.coordination.incident import Incident
from policies.coordination.rules import STALE_SECONDS
from policies.coordination.snapshot import Change, Keys
from policies.coordination.switches import ALL_ACTIVE, Switches
from policies.facts.maintenance import Maintenance
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, ask, at, findings, plan
from tests.tools.refusals import ASKS, ENDS, HOUR, MINUTE, denied, gpu, no, opened, pages, seen

LATE = ENDS - MINUTE  # told once, a minute before the no is over


def sweep(table: DecisionTable, seconds: float) -> None:
    table.take(seconds, SweepMessage(cluster=CLUSTER, at=at(seconds)))


def sweeps(table: DecisionTable, since: float, minutes: int = 70) -> list[Incident]:
    """Return who is asked in as many sweeps; whoever opens asks at once, as its execution does."""
    for minute in range(minutes):
        moment = since + minute * MINUTE
        sweep(table, moment)
        for each in opened(table):
            if each.status.is_running:
                table.answer(moment + 1, ask(each.id, step=each.ask.step + 1 if each.ask else 0))
    return opened(table)


def told_once(seconds: float = LATE, finding: Finding | None = None) -> DecisionTable:
    table = denied()
    table.take(seconds + 1, findings(finding or seen(seconds)))
    return table


def test_a_person_is_asked_once_by_a_page_that_says_who_said_no() -> None:
    table = told_once()
    sweep(table, ENDS - 1)
    assert opened(table) == [], "while it holds"
    (asking,) = sweeps(table, ENDS)
    assert asking.approve_until is not None
    assert asking.findings[0].id == seen(LATE).id
    assert asking.reason.endswith("; it was denied before by kim at 2026-03-01 10:01:30 UTC: a firmware test")
    decided = next(each for each in asking.timeline if each.stage == "decided")
    assert decided.detail.endswith("; the no to it is over, and nobody has found it again")
    assert [each.stage for each in asking.timeline][:3] == ["seen", "queued", "decided"]
    assert pages(table) == 2
    assert len(table.incidents) == 3


def test_the_same_sweep_twice_and_a_repeat_of_the_finding_ask_nobody_else() -> None:
    table = told_once()
    for _ in range(2):
        sweep(table, ENDS)
    (asking,) = opened(table)
    assert asking.version == 1
    table.take(ENDS + 1, findings(seen(LATE)))
    table.take(ENDS + 2, findings(seen(ENDS + 1)))
    assert [each.id for each in opened(table)] == [asking.id], "what is found again joins it"
    assert [len(each.findings) for each in opened(table)] == [2]


def test_a_decision_whose_incident_was_not_written_is_made_again() -> None:
    """Its worker died once the lease was taken."""
    table = told_once()
    decision = table.decide(ENDS, SweepMessage(cluster=CLUSTER, at=at(ENDS)))
    (lease,) = decision.leases
    table.store.write(lease)
    (again,) = sweeps(table, ENDS + MINUTE, 1)
    assert again.id == lease.after.incident


@pytest.mark.parametrize("rule", list(EvidenceRule))
def test_it_is_asked_for_as_long_as_its_evidence_counts_and_not_after(rule: EvidenceRule) -> None:
    policy = ASKS.model_copy(update={"evidence": rule})
    for age, asked in ((STALE_SECONDS[rule] - 1, 1), (STALE_SECONDS[rule] + 1, 0)):
        table = denied(seen(0, policy))
        table.take(ENDS - age + 1, findings(seen(ENDS - age, policy)))
        assert len(sweeps(table, ENDS)) == asked


def test_what_was_found_once_more_counts_from_its_last_sign_on() -> None:
    table = told_once(ENDS - 2 * HOUR)
    assert sweeps(table, ENDS) == []
    table = told_once(ENDS - 2 * HOUR)
    table.take(LATE + 1, findings(seen(LATE)))
    (asking,) = sweeps(table, ENDS)
    assert asking.findings[0].times == 2


def test_old_news_asks_nobody() -> None:
    table = told_once(finding=seen(LATE).model_copy(update={"late": True}))
    assert sweeps(table, ENDS) == []


def test_where_the_lease_has_forgotten_the_no_nobody_is_asked() -> None:
    """A version of before wrote it: whether another no holds cannot be told."""
    table = told_once()
    before = table.store.read(CLUSTER, Keys(leases=frozenset({seen(0).generation}))).leases[seen(0).generation]
    forgotten = before.model_copy(update={"refusals": (), "version": before.version + 1})
    table.store.write(Change(before, forgotten))
    assert sweeps(table, ENDS) == []


def test_a_no_that_is_ended_early_asks_within_a_minute() -> None:
    table = denied()
    table.take(20 * MINUTE, findings(seen(20 * MINUTE - 1)))
    first = table.incidents[0]
    table.take(21 * MINUTE, no(first, 21 * MINUTE, hours=0))
    assert len(sweeps(table, 21 * MINUTE + 1, 1)) == 1


def test_a_no_that_was_said_again_holds_until_its_own_end() -> None:
    table = told_once()
    table.take(LATE + 20, no(table.incidents[0], LATE + 20, hours=0.5))
    assert sweeps(table, ENDS, 28) == []
    (asking,) = sweeps(table, LATE + 20 + 0.5 * HOUR, 1)
    assert asking.findings[0].id == seen(LATE).id


def test_who_says_no_again_is_not_asked_again() -> None:
    table = told_once()
    (asking,) = sweeps(table, ENDS, 1)
    table.take(ENDS + 30, no(asking, ENDS + 30, hours=1 / 60))
    assert sweeps(table, ENDS + MINUTE + 31) == []
    assert pages(table) == 2


def test_a_yes_to_what_is_asked_acts() -> None:
    table = told_once()
    (asking,) = sweeps(table, ENDS, 1)
    table.take(
        ENDS + 30, ApproveMessage(cluster=CLUSTER, incident=asking.id, by="ann", approved=True, at=at(ENDS + 30))
    )
    assert table.answer(ENDS + 31, ask(asking.id, attempt=2)).rung is Rung.ISOLATE
    table.take(ENDS + 40, CloseMessage(cluster=CLUSTER, incident=asking.id, by="ann", reason="seen to"))
    assert sweeps(table, ENDS + MINUTE) == [], "it is seen to"


def turn_off(table: DecisionTable) -> None:
    table.switches = Switches({ASKS.name: PolicyMode.OFF})


def take_in_hand(table: DecisionTable) -> None:
    until = at(ENDS + HOUR)
    table.maintenance["i-1"] = Maintenance(by="ann", why="a cable", until=until)


def stand_elsewhere(table: DecisionTable) -> None:
    other = plan(name="other", approval=True, settle=0)
    table.take(LATE + 30, findings(seen(LATE + 29, other)))
    (asking,) = opened(table)
    table.answer(LATE + 31, ask(asking.id))


def see_to(table: DecisionTable) -> None:
    stand_elsewhere(table)
    (asking,) = opened(table)
    table.take(LATE + 40, CloseMessage(cluster=CLUSTER, incident=asking.id, by="ann", reason="the cable was loose"))


@pytest.mark.parametrize("held", [turn_off, take_in_hand, stand_elsewhere, see_to])
def test_what_else_holds_it_back_does(held: Callable[[DecisionTable], None]) -> None:
    table = told_once()
    held(table)
    before = pages(table)
    assert all(each.policy.name != ASKS.name for each in sweeps(table, ENDS))
    assert pages(table) == before


def test_once_nothing_else_holds_it_back_it_is_asked_for_if_it_still_counts() -> None:
    table = told_once()
    turn_off(table)
    assert sweeps(table, ENDS, 2) == []
    table.switches = ALL_ACTIVE
    assert len(sweeps(table, ENDS + 2 * MINUTE, 1)) == 1


def test_outside_its_hours_nobody_is_asked() -> None:
    policy = ASKS.model_copy(update={"schedule": Hours(never=("Sun 13:30-18:00",))})
    table = denied(seen(0, policy))
    table.take(LATE + 1, findings(seen(LATE, policy)))
    assert sweeps(table, ENDS) == []


def test_what_took_the_reason_away_meanwhile_wakes_nobody() -> None:
    table = told_once()
    over = Cancellation(
        event_id="e", policy=ASKS.name, generation=seen(LATE).generation, component="", at=at(LATE + 30), text="reset"
    )
    table.take(LATE + 31, findings().model_copy(update={"cancellations": (over,)}))
    assert sweeps(table, ENDS) == []
    assert pages(table) == 1


def test_two_parts_of_one_node_are_one_question() -> None:
    table = DecisionTable()
    slow = plan(approval=True, settle=30)
    table.take(0, findings(seen(0, slow, component=gpu(0)), seen(1, slow, component=gpu(1))))
    table.answer(31, ask(table.incident.id))
    table.take(90, no(table.incident, 90))
    table.take(LATE + 1, findings(seen(LATE, slow, component=gpu(0)), seen(LATE, slow, component=gpu(1))))
    (asking,) = sweeps(table, ENDS)
    assert sorted(each.component for each in asking.findings) == sorted([gpu(0).key, gpu(1).key])
    assert pages(table) == 2
