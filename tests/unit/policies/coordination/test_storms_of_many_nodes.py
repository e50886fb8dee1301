"""Many nodes that tell of one fault they share are one incident about what they share, and none of them pays for it."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.decisions import Contribution
from policies.contract.errors import BadInputError
from policies.contract.vocabulary import Action, PolicyMode
from policies.coordination.decide import decide
from policies.coordination.snapshot import Decision, Keys, Snapshot
from policies.coordination.storms import STORM, generation_of_scope
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, RULES, START, at, finding, findings, plan
from tests.tools.wide import TRAINING, contributed, contribution, wide_rule

SCOPE = generation_of_scope("shared-storage-stalled", "cluster")
RUN = "job:train/llm"


def stalled(*nodes: int, seconds: float = 0, seq: int = 0, **more: object) -> list[Contribution]:
    return [contribution(f"i-{node}", seconds, seq=seq, **more) for node in nodes]  # type: ignore[arg-type]


def told(decision: Decision) -> list[str]:
    """Return the alerts of the lines that *decision* writes."""
    return [
        entry.alert
        for change in decision.incidents
        for entry in change.after.timeline
        if entry.version == change.after.version and entry.alert != "none"
    ]


def test_seven_hundred_nodes_are_one_incident_and_one_page() -> None:
    table, alerts = DecisionTable(), list[str]()
    for first in range(0, 700, 50):
        alerts += told(table.take(first / 10, contributed(*stalled(*range(first, first + 50), seconds=first / 10))))
    assert alerts == ["page"]
    incident = table.incident
    assert (incident.status, incident.outcome, incident.node.instance_id) == ("closed", "recorded", "cluster")
    assert (incident.node.name, incident.job, incident.generation) == ("cluster west", None, SCOPE)
    assert incident.messages[0].startswith("50 nodes of cluster west: node-i-0, ")
    assert incident.messages[1:] == ("nfs: server fs-1 not responding, still trying",)


def test_the_storm_that_goes_on_is_counted_and_the_next_one_is_told() -> None:
    table = DecisionTable()
    assert told(table.take(0, contributed(*stalled(1, 2, 3)))) == ["page"]
    later = [600 * number for number in range(1, 13)]
    for seq, seconds in enumerate(later, 1):
        assert told(table.take(seconds, contributed(*stalled(1, 2, 3, 4, seconds=seconds + 1, seq=seq)))) == []
    assert len(table.incidents) == 1
    (note,) = table.incident.findings
    assert (note.late, note.times, note.until) == (False, 13, at(later[-1] + 1))
    after = later[-1] + STORM.total_seconds() + 60
    assert told(table.take(after, contributed(*stalled(7, 8, 9, seconds=after)))) == ["page"]
    assert len(table.incidents) == 2


def test_a_policy_that_is_armed_in_mid_storm_pages() -> None:
    table = DecisionTable()
    shadow = wide_rule(mode=PolicyMode.SHADOW)
    assert told(table.take(0, contributed(*stalled(1, 2, 3), rule=shadow))) == ["notify"]
    armed = wide_rule(revision=2)
    assert told(table.take(60, contributed(*stalled(4, 5, 6, seconds=60), rule=armed))) == ["page"]


def test_two_racks_are_two_incidents() -> None:
    table, rule = DecisionTable(), wide_rule(per="rack")
    for rack in ("rack:rack-1", "rack:rack-2"):
        table.take(0, contributed(*stalled(1, 2, 3), rule=rule, scope=rack))
    assert [each.node.name for each in table.incidents] == ["rack rack-1", "rack rack-2"]
    assert table.incidents[0].node.network_path == ("spine", "leaf", "rack-1")


def test_a_node_with_an_incident_of_its_own_keeps_it() -> None:
    table = DecisionTable()
    table.take(0, findings(finding("i-1", job=None)))
    table.take(1, contributed(*stalled(1, 2, 3)))
    assert sorted(each.generation for each in table.incidents) == ["i-1#0", SCOPE]
    table.take(2, findings(finding("i-2", name="other", job=None)))
    assert len(table.incidents) == 3


def test_a_job_is_stopped_once_for_what_many_of_its_nodes_tell() -> None:
    table, rule = DecisionTable(), wide_rule(Action.RESUME_JOB, per="job")
    first = table.take(0, contributed(*stalled(1, 2, 3, job=TRAINING), rule=rule, scope=RUN))
    assert len(first.starts) == 1
    assert table.incident.generation == "run#train/llm"
    assert table.incident.node.instance_id in {"i-1", "i-2", "i-3"}
    later = table.take(700, contributed(*stalled(4, 5, 6, seconds=700, job=TRAINING), rule=rule, scope=RUN))
    assert later.starts == ()
    assert len(table.incidents) == 1


def test_what_stops_the_run_already_takes_the_note() -> None:
    table, rule = DecisionTable(), wide_rule(Action.RESUME_JOB, per="job")
    table.take(0, contributed(*stalled(1, 2, 3, job=TRAINING), rule=rule, scope=RUN))
    hung = finding("i-9", job=TRAINING, policy=plan(Action.RESUME_JOB))
    table.take(5, findings(hung))
    assert [note.id for note in table.incident.findings][1:] == [hung.id]


@pytest.mark.parametrize("died_after", range(3))
def test_who_dies_between_two_writes_is_finished_by_the_same_message(died_after: int) -> None:
    table, rule = DecisionTable(), wide_rule(Action.RESUME_JOB, per="job")
    message = contributed(*stalled(1, 2, 3, job=TRAINING), rule=rule, scope=RUN)
    decision = table.decide(0, message)
    for changes in decision.rounds[: died_after + 1]:
        for change in changes:
            table.store.write(change)
    again = table.take(1, message)
    assert [start.incident for start in again.starts] == [start.incident for start in decision.starts]
    assert len(table.incidents) == 1
    assert len(table.incident.findings) == 1


def test_who_dies_before_the_start_is_finished_by_the_same_message() -> None:
    table, rule = DecisionTable(), wide_rule(Action.RESUME_JOB, per="job")
    message = contributed(*stalled(1, 2, 3, job=TRAINING), rule=rule, scope=RUN)
    first = table.take(0, message)
    assert table.take(1, message).starts == first.starts
    assert len(table.incident.findings) == 1


def test_a_page_that_was_written_and_not_counted_is_not_told_again() -> None:
    table = DecisionTable()
    message = contributed(*stalled(1, 2, 3))
    decision = table.decide(0, message)
    for changes in decision.rounds[:3]:
        for change in changes:
            table.store.write(change)
    assert told(table.take(1, message)) == []
    assert len(table.incidents) == 1


def test_a_page_whose_line_was_not_written_is_finished_by_the_same_message() -> None:
    table = DecisionTable()
    message = contributed(*stalled(1, 2, 3))
    table.take(0, message)
    assert [each.id for each in table.take(1, message).retold] == [table.incident.id]
    table.take(700, contributed(*stalled(1, 2, 3, seconds=700, seq=1)))
    assert [each.id for each in table.take(701, message).retold] == [table.incident.id]
    assert table.incident.findings[0].times == 2


def test_a_contribution_of_another_cluster_is_refused_alone() -> None:
    stranger = contributed(*stalled(1, cluster="east"))
    decision = decide(Snapshot(CLUSTER), [stranger, contributed(*stalled(1, 2, 3))], START, rules=RULES)
    assert isinstance(decision.refused[0], BadInputError)
    assert len(decision.incidents) == 1


def test_what_is_told_too_late_pages_nevertheless_and_says_so() -> None:
    table = DecisionTable()
    assert told(table.take(2000, contributed(*stalled(1, 2, 3)))) == ["page"]
    assert "too long to act on it" in table.incident.timeline[-1].detail


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1, 8), st.integers(0, 900)), min_size=3, max_size=14),
    st.randoms(use_true_random=False),
)
def test_order_repetition_and_cuts_make_no_second_incident(
    told_by: list[tuple[int, int]], chance: random.Random
) -> None:
    story = [contribution(f"i-{node}", seconds, seq=seq) for seq, (node, seconds) in enumerate(told_by)]
    straight, mixed = DecisionTable(), DecisionTable()
    straight.take(900, contributed(*story))
    repeated = [*story, *story]
    chance.shuffle(repeated)
    while repeated:
        size = chance.randint(1, len(repeated))
        mixed.take(900, contributed(*repeated[:size]))
        repeated = repeated[size:]
    keys = Keys(windows=frozenset({"shared-storage-stalled|cluster"}))
    one, other = (
        table.store.read(CLUSTER, keys).windows["shared-storage-stalled|cluster"] for table in (straight, mixed)
    )
    assert other.model_copy(update={"version": one.version}) == one
    assert len(mixed.incidents) == len(straight.incidents)
    assert len(mixed.incidents) <= 1
