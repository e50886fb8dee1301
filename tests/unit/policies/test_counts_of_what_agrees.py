"""`count.same` on one node: what agrees counts together; ever new values fill no state."""

import json
from typing import Any

from policies.alike import MARK, MOST_VALUES
from policies.contract.events import JobRef
from policies.evaluator import evaluate
from policies.explain.explaining import World, explain
from policies.explain.verdicts import Outcome
from policies.loader import load_document
from policies.model import Policy
from policies.rulebook import AcceptedPolicy
from tests.tools.envelopes import at, delivery, event, policy, rules

COUNT = {"at_least": 2, "within": "1h", "per": "node", "same": "job.step"}
TWICE = policy(count=COUNT)


def at_step(step: int | None, seq: int, **more: Any) -> Any:  # noqa: ANN401 - fields of an event
    return event(seq, seq, job=JobRef(id="train/llm", step=step), **more)


def told(*steps: int | None) -> tuple[int, str]:
    state, found = "", 0
    for seq, step in enumerate(steps):
        one = delivery(at_step(step, seq))
        judged = evaluate([one], state=state, rulebook=rules(TWICE), now=one.arrived_at)
        state, found = judged.state, found + len(judged.findings)
    return found, state


def test_only_what_agrees_counts_together() -> None:
    assert told(1000, 1000)[0] == 1
    assert told(1000, 1001)[0] == 0
    assert told(1000, 1001, 1000)[0] == 1


def test_two_values_are_two_findings() -> None:
    found, _ = told(7, 8, 7, 8)
    assert found == 2


def test_what_is_not_there_agrees_with_nothing_and_is_told() -> None:
    one = delivery(at_step(None, 0), at_step(None, 1))
    judged = evaluate([one], state="", rulebook=rules(TWICE), now=at(2))
    assert judged.findings == ()
    assert [(each.field, each.times) for each in judged.refused] == [("count.same", 2)]


def test_ever_new_values_push_no_other_count_out() -> None:
    book = rules(TWICE, policy(name="other", count={"at_least": 50, "within": "1h", "per": "component"}))
    events = [at_step(step, step) for step in range(400)]
    judged = evaluate([delivery(*events)], state="", rulebook=book, now=at(400))
    counters = json.loads(judged.state)["c"]
    assert sum(MARK in key for key in counters) == MOST_VALUES
    assert any(key.startswith("other|") for key in counters)


def test_explain_tells_how_often_for_which_value() -> None:
    world = World([AcceptedPolicy(TWICE, 1, "hash")])
    (one,) = explain([delivery(at_step(1000, 0))], state="", world=world, now=at(1))
    assert "1 of 2 events on node for the value 1000" in one.verdicts[0].reason
    (other,) = explain([delivery(at_step(None, 0))], state="", world=world, now=at(1))
    assert other.verdicts[0].outcome is Outcome.UNANSWERED
    assert other.verdicts[0].reason == "what count.same asks for is not there"


def test_it_goes_with_no_dwell() -> None:
    refused = load_document({**TWICE.model_dump(mode="json", include={"name", "mode", "why", "when"}),
        "do": ["alert"], "for": "5m", "count": {"same": "job.step"}})  # fmt: skip
    assert not isinstance(refused, Policy)
