"""A policy that acts too often, or in a loop, puts itself in shadow and says so once."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.contract.decisions import Limit, PolicyPlan
from policies.contract.restraints import Pace
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, PolicyMode
from policies.coordination.budgets import Reservation
from policies.coordination.incident import Incident
from policies.coordination.pacing import DAY_SECONDS, MOST_KEPT, acts_scope, chain_to
from policies.coordination.snapshot import Decision, Keys
from policies.coordination.states import IncidentStatus
from policies.coordination.switches import SelfShadow, Switches
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, POLICY, ask, at, finding, findings, plan, report

TWO = Pace(at_most=2, within_seconds=3600)
ONE = plan(Action.RESTART_PROCESS, settle=0, acts=TWO)
SIX_A_DAY = Pace(at_most=200, within_seconds=3600)


class Table(DecisionTable):
    def faulty(self, node: str, seconds: float, policy: PolicyPlan = ONE) -> Incident:
        """Have a fault of *node* found and its incident ask once."""
        self.open(node, seconds, policy)
        self.take(seconds, ask(self.of(node).id, token=f"t{seconds}"))
        return self.of(node)

    def open(self, node: str, seconds: float, policy: PolicyPlan = ONE) -> Incident:
        made = finding(node, name=f"{node}-{seconds}", seen=at(seconds), policy=policy, job=None)
        self.take(seconds, findings(made))
        return self.of(node)

    def mended(self, node: str, seconds: float) -> None:
        """Report whatever rung is asked for as done until the incident is closed."""
        step = 1
        while self.of(node).status.is_running:
            current = self.of(node).current
            assert current
            done = report(current.rung, when=at(seconds))
            if current.rung is Rung.REPLACE_NODE:
                done = report(current.rung, when=at(seconds), new_instance=f"{node}'")
            self.take(seconds, ask(self.of(node).id, step, report=done))
            step += 1

    def of(self, node: str) -> Incident:
        return [each for each in self.incidents if each.node.instance_id == node][-1]

    @property
    def acts(self) -> Sequence[Reservation]:
        scope = acts_scope(POLICY)
        return self.store.read(CLUSTER, Keys(budgets=frozenset({scope}))).budgets[scope].reservations

    @property
    def pages(self) -> list[str]:
        return [entry.detail for each in self.incidents for entry in each.timeline if entry.alert == "page"]


def test_one_act_too_many_is_recorded_and_the_policy_goes_into_shadow() -> None:
    table = Table()
    assert [table.faulty(node, 10.0 * at).acted for at, node in enumerate(("i-1", "i-2"))] == [True, True]
    third = table.faulty("i-3", 60)
    assert (third.status, third.outcome, third.acted) == (IncidentStatus.CLOSED, "recorded", False)
    shadow = table.switches.self_shadow(POLICY)
    assert shadow
    assert (shadow.incident, shadow.told) == (third.id, "acted 2 times within 1h, since 2026-03-01 10:01:00 UTC")
    (page,) = table.pages
    assert page.startswith(f"recorded: policy {POLICY} has put itself in shadow: {shadow.told}; nothing was touched.")
    assert page.endswith(f"`relight policy set-mode {POLICY} active` lets it act again")


def test_whoever_comes_later_is_recorded_without_another_page() -> None:
    table = Table()
    for seconds, node in enumerate(("i-1", "i-2", "i-3")):
        table.faulty(node, seconds)
    later = table.open("i-4", 7200)
    assert later.outcome == "recorded"
    assert "has put itself in shadow" in later.reason
    assert later.timeline[-1].alert == "notify"
    assert len(table.pages) == 1


def test_what_was_still_settling_touches_nothing_and_pages_nobody() -> None:
    table = Table()
    waiting = table.open("i-9", 0)
    for seconds, node in enumerate(("i-1", "i-2", "i-3")):
        table.faulty(node, seconds)
    table.take(5, ask(waiting.id))
    assert (table.of("i-9").outcome, table.of("i-9").timeline[-1].alert) == ("recorded", "notify")


def test_what_had_begun_goes_on_to_its_end() -> None:
    table = Table()
    for seconds, node in enumerate(("i-1", "i-2", "i-3")):
        table.faulty(node, seconds)
    table.mended("i-1", 30)
    assert (table.of("i-1").status, table.of("i-1").outcome) == (IncidentStatus.CLOSED, "recovered")


def test_an_act_that_is_an_hour_old_counts_no_more() -> None:
    table = Table()
    for seconds, node in ((0, "i-1"), (1800, "i-2"), (3600, "i-3"), (5400, "i-4")):
        assert table.faulty(node, seconds).acted
    assert not table.faulty("i-5", 5401).acted


def test_it_acts_again_once_a_person_lifted_it_and_what_was_before_counts_no_more() -> None:
    table = Table()
    for seconds, node in enumerate(("i-1", "i-2", "i-3")):
        table.faulty(node, seconds)
    shadow = table.switches.self_shadow(POLICY)
    assert shadow
    lifted = shadow.model_copy(update={"lifted_at": at(60), "lifted_by": "kim", "version": 2})
    table.switches = table.switches.with_shadow(lifted)
    assert [table.faulty(node, 70.0 + n).acted for n, node in enumerate(("i-4", "i-5", "i-6"))] == [True, True, False]
    again = table.switches.self_shadow(POLICY)
    assert again
    assert (again.version, again.incident) == (3, table.of("i-6").id)


def test_whoever_died_behind_the_switch_ends_with_the_page_nevertheless() -> None:
    table = Table()
    for seconds, node in enumerate(("i-1", "i-2")):
        table.faulty(node, seconds)
    third = table.open("i-3", 3)
    half = table.decide(4, ask(third.id))
    table.commit(Decision(shadows=half.shadows))
    table.take(40, ask(third.id))
    assert table.of("i-3").outcome == "recorded"
    assert len(table.pages) == 1
    assert table.switches.self_shadow(POLICY) == half.shadows[0]


def test_a_refused_budget_is_no_act() -> None:
    limits = {"restarts": Limit(at_most=1, within_seconds=600)}
    table = Table()
    policy = ONE.model_copy(update={"limits": limits})
    assert table.faulty("i-1", 0, policy).acted
    assert table.faulty("i-2", 1, policy).status is IncidentStatus.PARKED
    assert [act.node for act in table.acts] == ["i-1"]


def test_whoever_died_between_lease_and_incident_pages_nevertheless() -> None:
    table = Table()
    for seconds, node in enumerate(("i-1", "i-2")):
        table.faulty(node, seconds)
    third = table.open("i-3", 3)
    half = table.decide(4, ask(third.id))
    table.commit(Decision(shadows=half.shadows, shared=half.shared, leases=half.leases))
    table.take(40, ask(third.id))
    assert (table.of("i-3").outcome, len(table.pages)) == ("recorded", 1)


def half_noted(table: Table) -> Incident:
    opened = table.open("i-1", 0)
    half = table.decide(1, ask(opened.id))
    table.commit(Decision(shared=half.shared))
    assert len(table.acts) == 1
    return opened


def test_what_was_noted_by_a_run_that_died_is_within_what_the_policy_may() -> None:
    table = Table()
    opened = half_noted(table)
    table.switches = table.switches.with_shadow(shadow_of_another())
    table.take(40, ask(opened.id))
    assert table.of("i-1").acted
    assert len(table.acts) == 1


def test_what_a_run_that_died_had_noted_is_dropped_when_nothing_is_touched_after_all() -> None:
    table = Table()
    opened = half_noted(table)
    table.switches = Switches({POLICY: PolicyMode.OFF})
    table.take(40, ask(opened.id))
    assert table.of("i-1").outcome == "recorded"
    assert table.acts == ()


def shadow_of_another() -> SelfShadow:
    return SelfShadow(policy=POLICY, cluster="east", incident="another", since=at(5), why="acted 6 times within 1h")


def test_a_plan_of_before_acts_were_counted_is_not_counted() -> None:
    table = Table()
    policy = ONE.model_copy(update={"acts": None})
    assert all(table.faulty(f"i-{number}", number, policy).acted for number in range(10))


@given(st.lists(st.integers(0, 40_000), max_size=40).map(sorted), st.integers(1, 5))
def test_no_hour_holds_more_acts_than_allowed(moments: list[int], most: int) -> None:
    table = Table()
    policy = ONE.model_copy(update={"acts": Pace(at_most=most, within_seconds=3600)})
    acted = []
    for number, seconds in enumerate(moments):
        if table.faulty(f"i-{number}", seconds, policy).acted:
            acted.append(seconds)
    for seconds in acted:
        assert sum(1 for other in acted if seconds - 3600 < other <= seconds) <= most
    assert len(table.pages) == (len(acted) < len(moments))


REPLACING = plan(Action.ISOLATE, Action.REPLACE_NODE, settle=0, acts=SIX_A_DAY)


def test_the_same_fault_on_successor_after_successor_is_a_loop_and_broken() -> None:
    table = Table()
    for turn, node in enumerate(("i-1", "i-1'", "i-1''")):
        assert table.faulty(node, turn * 3600, REPLACING).acted
        table.mended(node, turn * 3600 + 60)
    broken = table.faulty("i-1'''", 3 * 3600, REPLACING)
    assert (broken.outcome, broken.acted) == ("recorded", False)
    (page,) = table.pages
    assert "acts in a loop: i-1 (incident" in page
    assert "→ i-1'' (incident" in page
    assert page.count("→") == 3
    assert table.switches.self_shadow(POLICY)


def test_the_same_fault_of_a_node_that_was_mended_is_a_loop_as_well() -> None:
    table = Table()
    policy = plan(Action.RESET_GPU, settle=0, acts=SIX_A_DAY)
    for turn in range(3):
        assert table.faulty("i-1", turn * 7200, policy).acted
        table.mended("i-1", turn * 7200 + 60)
    assert not table.faulty("i-1", 3 * 7200, policy).acted
    assert "acts in a loop" in table.pages[0]


def test_three_acts_within_more_than_a_day_are_no_loop() -> None:
    table = Table()
    for turn in range(5):
        assert table.faulty("i-1", turn * (DAY_SECONDS / 3 + 1), plan(Action.RESET_GPU, settle=0, acts=SIX_A_DAY)).acted
        table.mended("i-1", turn * (DAY_SECONDS / 3 + 1) + 60)


def test_faults_of_nodes_that_have_nothing_to_do_with_each_other_are_no_loop() -> None:
    table = Table()
    for number in range(6):
        assert table.faulty(f"i-{number}", number * 600, REPLACING).acted
        table.mended(f"i-{number}", number * 600 + 60)
    assert table.switches.self_shadow(POLICY) is None


def act(incident: str, seconds: float, node: str, successor: str = "") -> Reservation:
    moment = at(seconds)
    until = moment + timedelta(days=1)
    return Reservation(incident=incident, at=moment, counts_until=until, node=node, successor=successor)


@given(st.permutations([act("a", 0, "i-1", "i-2"), act("x", 5, "i-9", "i-8"), act("b", 10, "i-2", "i-3")]))
def test_a_chain_is_the_same_however_its_acts_are_kept(acts: list[Reservation]) -> None:
    assert [each.incident for each in chain_to(acts, "i-3")] == ["b", "a"]
    assert chain_to(acts, "i-7") == ()
    assert chain_to(acts, "") == ()


def test_what_is_kept_of_a_policy_has_a_bound() -> None:
    table = Table()
    policy = ONE.model_copy(update={"acts": Pace(at_most=10_000, within_seconds=60)})
    for number in range(MOST_KEPT + 5):
        table.faulty(f"i-{number}", number, policy)
    assert [each.node for each in table.acts] == [f"i-{number}" for number in range(5, MOST_KEPT + 5)]


@pytest.mark.parametrize(("seconds", "told"), [(3600, "1h"), (5400, "90m"), (86400, "24h"), (61, "61s")])
def test_a_pace_is_told_as_it_is_written(seconds: float, told: str) -> None:
    table = Table()
    policy = ONE.model_copy(update={"acts": Pace(at_most=1, within_seconds=seconds)})
    table.faulty("i-1", 0, policy)
    assert f"acted once within {told}," in table.faulty("i-2", 1, policy).reason
