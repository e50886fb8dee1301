"""`count.same` over many nodes: what agrees counts together, what does not counts by itself, within bounds."""

from policies.alike import MOST_VALUES, value_of
from policies.contract.decisions import Contribution, WideRule
from policies.contract.vocabulary import Action
from policies.coordination.storms import generation_of_scope
from policies.coordination.windows import Found, Window, count
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER
from tests.tools.wide import TRAINING, contributed, contribution, in_one, wide_rule

SCOPE = "job:train/llm"
DAY_MS = 86_400_000
APART = wide_rule(per="job", at_least=2, within_ms=DAY_MS, occurrence_ms=600_000, same="job.step")


def ended(node: str, seconds: float, step: int, seq: int = 0) -> Contribution:
    return contribution(node, seconds, seq=seq, same=str(step), job=TRAINING)


def found(*entries: Contribution, rule: WideRule = APART) -> tuple[Window, list[Found]]:
    """Return the window after *entries*, each in a message of its own, and what they came to."""
    window, told = None, list[Found]()
    for entry in entries:
        counted = count(window, in_one([entry], rule, SCOPE), CLUSTER)
        window = Window.model_validate_json(counted.window.model_dump_json())
        told += counted.found
    assert window is not None
    return window, told


def test_the_same_step_on_another_node_is_told_with_its_step() -> None:
    _, told = found(ended("i-1", 0, 1000), ended("i-2", 3600, 1000))
    assert [(one.value, sorted(one.tellers)) for one in told] == [("1000", ["i-1", "i-2"])]


def test_another_step_is_another_count() -> None:
    _, told = found(ended("i-1", 0, 1000), ended("i-2", 3600, 1001))
    assert told == []


def test_who_dies_behind_the_first_of_a_run_is_no_other_hardware() -> None:
    gang = [ended(f"i-{number}", number / 10, 1000) for number in range(1, 9)]
    _, told = found(*gang)
    assert told == []
    again = [ended(f"i-{number}", 3600 + number / 10, 1000, seq=1) for number in range(1, 9)]
    _, told = found(*gang, *again)
    assert told == []  # i-1 was the first both times: look at i-1
    elsewhere = [ended(f"i-{number}", 3600 - number / 10, 1000, seq=1) for number in range(8, 0, -1)]
    _, told = found(*gang, *elsewhere)
    assert [(one.value, one.window.firsts) for one in told] == [("1000", ("i-1", "i-8"))]


def test_people_are_told_who_was_the_first_each_time_and_not_who_followed() -> None:
    gang = [ended(f"i-{number}", number / 10, 1000) for number in range(1, 9)]
    again = [ended(f"i-{number}", 3600 - number / 10, 1000, seq=1) for number in range(1, 9)]
    rule = APART.model_copy(update={"plan": wide_rule(Action.PAGE_OPERATOR).plan})
    table = DecisionTable()
    table.take(3600, contributed(*gang, *again, rule=rule, scope=SCOPE))
    told = "2 nodes of job train/llm with job.step 1000: node-i-1, node-i-8, the first each time"
    assert table.incident.messages[0] == told


def test_of_ever_new_values_only_the_newest_are_kept() -> None:
    window, told = found(*(ended(f"i-{step:017x}", step, step) for step in range(200)))
    assert told == []
    assert sorted(map(int, window.alike)) == list(range(200 - MOST_VALUES, 200))


def test_full_of_values_and_nodes_the_document_stays_small() -> None:
    rule = wide_rule(per="job", at_least=50, within_ms=DAY_MS, same="job.step")
    window = None
    for step in range(MOST_VALUES):
        many = [ended(f"i-{step:04x}{number:013x}", 30 * number, step) for number in range(300)]
        window = count(window, in_one(many, rule, SCOPE), CLUSTER).window
    assert window is not None
    assert len(window.model_dump_json()) < 300_000  # an item holds 400 KB


def test_each_value_is_a_storm_of_its_own() -> None:
    rule = wide_rule(Action.PAGE_OPERATOR, per="job", at_least=2, within_ms=DAY_MS, same="job.step")
    table = DecisionTable()
    for moment, step in ((0.0, 1000), (60.0, 2000)):
        both = [ended("i-1", moment, step, seq=step), ended("i-2", moment + 1, step, seq=step)]
        table.take(moment + 2, contributed(*both, rule=rule, scope=SCOPE))
    assert [one.generation for one in table.incidents] == [
        generation_of_scope(rule.plan.name, SCOPE, str(step)) for step in (1000, 2000)
    ]
    assert "2 nodes of job train/llm with job.step 1000: node-i-2, node-i-1" in table.incidents[0].messages


def test_a_message_that_was_counted_and_whose_incident_was_not_written_is_taken_up_again() -> None:
    rule = wide_rule(Action.PAGE_OPERATOR, per="job", at_least=2, within_ms=DAY_MS, same="job.step")
    message = contributed(ended("i-1", 0, 7), ended("i-2", 1, 7), rule=rule, scope=SCOPE)
    table = DecisionTable()
    table.take(2, message)
    before = table.incident
    table.take(3, message)
    assert table.incidents == [before]


def test_a_value_stands_short_in_a_key() -> None:
    assert [value_of(read) for read in (1000, True, "word", "", None)] == ["1000", "true", "word", None, None]
    assert len(value_of("x" * 2000) or "") == 32
