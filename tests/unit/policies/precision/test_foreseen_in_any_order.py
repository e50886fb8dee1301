"""Whether a restart was foreseen does not hang on which news came first: its own, or that of the faults around it."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.decisions import Finding, PolicyPlan
from policies.contract.vocabulary import Action, Kind, PolicyMode
from policies.coordination.snapshot import Keys
from policies.facts.recent import Recent
from policies.precision.misses import misses_of
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, JOB, at, finding, findings, plan

NODES = ("i-1", "i-2")
ENDED = plan(Action.RECORD, name="run-ended")
POLICIES = (plan(Action.ALERT, name="tells"), plan(mode=PolicyMode.SHADOW, name="would-act"))
HOUR = 3500  # faults of the hour are remembered
NOW = 3590
moments = st.integers(0, HOUR)
faults = st.tuples(moments, st.sampled_from(NODES), st.sampled_from(POLICIES), st.booleans(), st.booleans())
ends = st.tuples(moments, st.sampled_from(NODES))


def fault(number: int, told: tuple[int, str, PolicyPlan, bool, bool]) -> Finding:
    seconds, node, policy, names_its_run, late = told
    job = JOB if names_its_run else None
    return finding(node, name=f"fault-{number}", policy=policy, seen=at(seconds), job=job, late=late)


def end(number: int, told: tuple[int, str]) -> Finding:
    return finding(told[1], name=f"end-{number}", policy=ENDED, seen=at(told[0]), kind=Kind.JOB_FAILED)


def foreseen(table: DecisionTable) -> tuple[dict[str, bool], int]:
    kept = table.store.read(CLUSTER, Keys(misses=frozenset({""}))).misses[""]
    assert kept
    return {each.id: each.foreseen for each in kept.restarts}, len(misses_of(kept, at(NOW)))


def recent_of(table: DecisionTable) -> Recent:
    kept = table.store.read(CLUSTER, Keys(recents=frozenset({""}))).recents[""]
    assert kept
    return kept.model_copy(update={"version": 1})


@settings(max_examples=150, deadline=None)
@given(
    st.lists(faults, max_size=6),
    st.lists(ends, min_size=1, max_size=2),
    st.randoms(use_true_random=False),
)
def test_it_was_foreseen_whichever_news_came_first_and_however_often(
    told: list[tuple[int, str, PolicyPlan, bool, bool]], ended: list[tuple[int, str]], chance: random.Random
) -> None:
    story = [fault(*each) for each in enumerate(told)] + [end(*each) for each in enumerate(ended)]
    straight, mixed = DecisionTable(), DecisionTable()
    for each in sorted(story, key=lambda one: one.observed_at):
        straight.take(NOW, findings(each))
    left = [*story, *story[:3]]
    chance.shuffle(left)
    while left:
        size = chance.randint(1, len(left))
        mixed.take(NOW, findings(*left[:size]))
        left = left[size:]
    assert foreseen(mixed) == foreseen(straight)
    assert recent_of(mixed) == recent_of(straight)


def after(minutes: range, at_minute: int, *, late: bool = False) -> bool:
    """Return whether an end is foreseen whose news comes after all of a storm of that many minutes."""
    table, told = DecisionTable(), (POLICIES[0], True, late)
    table.take(NOW, findings(*(fault(number, (number * 60, "i-1", *told)) for number in minutes)))
    table.take(NOW, findings(end(0, (at_minute * 60, "i-1"))))
    return foreseen(table)[0]["end-0"]


def test_an_end_in_the_midst_of_a_storm_was_foreseen_though_its_news_comes_after_the_storm() -> None:
    assert after(range(60), 20)
    assert after(range(0, 60, 29), 20)
    assert after(range(20, 22), 19)


def test_an_end_before_a_storm_or_long_after_it_was_not() -> None:
    assert not after(range(20, 50), 18)
    assert not after(range(20), 50)
    assert not after(range(0, 60, 40), 38)


def test_old_news_foretells_nothing_whenever_it_comes() -> None:
    assert not after(range(60), 20, late=True)
