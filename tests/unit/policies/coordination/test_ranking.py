"""Of several policies that see one node while it settles, one order says which leads: however they arrive."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.contract.decisions import Limit, PolicyPlan
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action
from policies.coordination.incident import Incident
from policies.coordination.ranking import BY_SEVERITY, MOST_PLANS, merged, ranked
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import at, finding, findings, plan

LADDERS = (
    (Action.ISOLATE, Action.REPLACE_NODE, Action.RESUME_JOB),
    (Action.RESET_GPU,),
    (Action.RESTART_PROCESS,),
    (Action.ISOLATE, Action.SUSPEND_JOB, Action.RESUME_JOB),
    (Action.ISOLATE,),
)
PLANS = st.builds(
    lambda name, do, priority, settle, most: plan(
        *do, name=name, priority=priority, settle=settle, limits={"isolations": Limit(at_most=most, within_seconds=60)}
    ),
    name=st.sampled_from("abcdef"),
    do=st.sampled_from(LADDERS),
    priority=st.sampled_from([-5, 0, 0, 7]),
    settle=st.sampled_from([0.0, 20.0, 60.0]),
    most=st.integers(1, 3),
)


def told(*plans: PolicyPlan) -> Incident:
    """Return the incident that findings of *plans* make, one message each, in this order."""
    table = DecisionTable()
    for each in plans:
        name = f"{each.name}-{each.do[0]}-{each.priority}-{each.settle_seconds}-{each.limits}"
        table.take(1, findings(finding(name=name, policy=each)))
    return table.incident


def answer(incident: Incident) -> object:
    rungs = [each.rung for each in incident.rungs]
    return incident.policy, incident.plans, rungs, incident.settle_until, incident.deadline


@given(st.data(), st.lists(PLANS, min_size=2, max_size=5, unique_by=lambda each: each.name))
def test_any_order_of_arrival_ends_in_the_same_plan(data: st.DataObject, plans: list[PolicyPlan]) -> None:
    shuffled = data.draw(st.permutations(plans))
    assert answer(told(*plans)) == answer(told(*shuffled))


@given(st.lists(PLANS, min_size=2, max_size=4, unique_by=lambda each: each.name))
def test_a_repeat_changes_nothing(plans: list[PolicyPlan]) -> None:
    assert answer(told(*plans)) == answer(told(*plans, *plans))


def test_the_higher_priority_leads_and_what_the_lower_one_wants_is_only_noted() -> None:
    incident = told(plan(name="replaces"), plan(Action.RESET_GPU, name="resets", priority=1))
    assert incident.policy.name == "resets"
    assert Rung.REPLACE_NODE not in [each.rung for each in incident.rungs]
    assert {note.policy for note in incident.findings} == {"replaces", "resets"}
    assert [each.name for each in incident.plans] == ["resets", "replaces"]


def test_among_equals_the_act_that_takes_more_away_leads_and_all_is_done() -> None:
    incident = told(plan(Action.ISOLATE, Action.RESUME_JOB, name="a"), plan(Action.RESET_GPU, name="b"))
    assert incident.policy.name == "b"
    assert {Rung.RESET_GPU, Rung.SUSPEND_JOB} <= {each.rung for each in incident.rungs}


def test_among_equal_acts_the_name_decides() -> None:
    assert told(plan(name="b"), plan(name="a"), plan(name="c")).policy.name == "a"


def test_of_two_limits_of_one_name_the_leading_policys_counts() -> None:
    strict, wide = Limit(at_most=1, within_seconds=60), Limit(at_most=9, within_seconds=60)
    first = plan(Action.RESET_GPU, name="a", limits={"resets": strict, "isolations": wide})
    leads = plan(name="z", limits={"isolations": strict})
    assert told(first, leads).policy.limits == {"resets": strict, "isolations": strict}


def test_if_one_that_decides_wants_approval_it_is_asked_for() -> None:
    asks = plan(Action.ISOLATE, name="asks", approval=True)
    assert told(plan(name="acts"), asks).policy.approval
    assert not told(plan(name="acts", priority=1), asks).policy.approval


def test_it_settles_as_long_as_who_wants_it_longest() -> None:
    assert told(plan(settle=5), plan(name="slow", settle=60)).settle_until == at(61)
    assert told(plan(settle=5, priority=1), plan(name="slow", settle=60)).settle_until == at(6)


def test_a_later_revision_takes_the_place_of_the_earlier() -> None:
    newer = plan(Action.RESET_GPU).model_copy(update={"revision": 4})
    assert told(plan(), newer).policy == told(newer, plan()).policy == newer


@pytest.mark.parametrize("action", list(Action))
def test_every_action_has_its_place(action: Action) -> None:
    assert BY_SEVERITY.count(action) == 1


@given(st.permutations([plan(name=f"p{number:02}") for number in range(MOST_PLANS + 4)]))
def test_what_is_kept_of_very_many_does_not_hang_on_their_order(plans: list[PolicyPlan]) -> None:
    kept: tuple[PolicyPlan, ...] = ()
    for each in plans:
        kept = ranked((*kept, each))
    assert [each.name for each in kept] == [f"p{number:02}" for number in range(MOST_PLANS)]
    assert merged(kept).name == "p00"
