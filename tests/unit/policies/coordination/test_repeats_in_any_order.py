"""However findings that nobody acts on are repeated, cut and shuffled, each is counted once."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.decisions import Finding
from policies.contract.vocabulary import PolicyMode
from policies.coordination.incident import Incident
from policies.coordination.repeats import GAP, MOST_COUNTED
from policies.coordination.snapshot import Keys
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, at, finding, findings, plan

MODES = (PolicyMode.SHADOW, PolicyMode.OFF, PolicyMode.ACTIVE)
NODES = ("i-1", "i-2")
STORY = st.lists(
    st.tuples(st.integers(0, int(GAP.total_seconds())), st.sampled_from(NODES), st.sampled_from((0, 1))),
    min_size=1,
    max_size=MOST_COUNTED,
)


def one(number: int, seconds: float, node: str, mode: PolicyMode = PolicyMode.SHADOW) -> Finding:
    return finding(node, name=f"{node}-{mode}-{number}", policy=plan(mode=mode), seen=at(seconds))


def sums(table: DecisionTable) -> dict[tuple[str, str], object]:
    """Return what each incident says of how often, from when and until when; who was first is as it came."""
    notes = [(each, each.findings[0]) for each in table.incidents]
    return {
        (each.generation, each.reason): (note.times, note.first_observed_at, note.observed_at, note.last_observed_at)
        for each, note in notes
    }


def shuffled(table: DecisionTable, story: list[Finding], chance: random.Random) -> DecisionTable:
    told = [*story, *story]
    chance.shuffle(told)
    while told:
        size = chance.randint(1, len(told))
        table.take(20_000, findings(*told[:size]))
        told = told[size:]
    return table


@settings(max_examples=80, deadline=None)
@given(STORY, st.randoms(use_true_random=False))
def test_what_is_near_together_is_the_same_incidents_in_any_order(
    told: list[tuple[int, str, int]], chance: random.Random
) -> None:
    story = [one(number, seconds, node, MODES[mode]) for number, (seconds, node, mode) in enumerate(told)]
    straight = DecisionTable()
    straight.take(20_000, findings(*story))
    mixed = shuffled(DecisionTable(), story, chance)
    assert sums(mixed) == sums(straight)
    assert len(mixed.incidents) == len({(each.generation, each.policy.mode) for each in story})


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 100_000), st.sampled_from(NODES)), min_size=1, max_size=MOST_COUNTED),
    st.randoms(use_true_random=False),
)
def test_whatever_lies_between_them_each_is_counted_in_one_incident(
    told: list[tuple[int, str]], chance: random.Random
) -> None:
    story = [one(number, seconds, node) for number, (seconds, node) in enumerate(told)]
    table = DecisionTable()
    chance.shuffle(story)
    for each in story:
        table.take(200_000, findings(each))
        assert table.take(200_001, findings(each)).incidents == ()
    counted = [names(each) for each in table.incidents]
    assert sorted(name for each in counted for name in each) == sorted(each.id for each in story)
    assert [len(each) for each in counted] == [each.findings[0].times for each in table.incidents]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(MODES), st.integers(0, 90)), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
def test_whatever_was_recorded_between_them_what_may_act_has_an_incident_that_acts(
    told: list[tuple[PolicyMode, int]], chance: random.Random
) -> None:
    table, seconds = DecisionTable(), 0.0
    for number, (mode, pause) in enumerate(told):
        seconds += pause
        each = one(number, seconds, chance.choice(NODES), mode)
        before = [incident for incident in table.incidents if incident.status.is_open]
        table.take(seconds + 1, findings(each))
        lease = table.store.read(CLUSTER, Keys(leases=frozenset({each.generation}))).leases[each.generation]
        held = any(incident.generation == each.generation for incident in before)
        if mode is PolicyMode.ACTIVE:
            (holder,) = [incident for incident in table.incidents if incident.id == lease.incident]
            assert holder.status.is_open
            assert holder.knows(each.id)
        elif not held:
            assert lease.incident == ""


def names(incident: Incident) -> list[str]:
    return [each.id for each in incident.counted] or [incident.findings[0].id]
