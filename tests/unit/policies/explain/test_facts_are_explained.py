"""Explain tells what no event tells: facts that were asked for, those that nobody knows, and a node in hand."""

from typing import Any

import pytest

from policies.evaluator import Delivery
from policies.explain.explaining import World, explain
from policies.explain.verdicts import Outcome, Verdict
from policies.facts.capacity import Available, Capacity
from policies.facts.snapshot import ReadDocument, ReadFacts, StatedFacts
from policies.model import Policy
from policies.rulebook import AcceptedPolicy
from tests.tools.envelopes import at, delivery, event, node, policy


def only(deliveries: list[Delivery], asked: Policy | None = None, **more: Any) -> Verdict:  # noqa: ANN401 - fields of a World
    world = World([AcceptedPolicy(asked or policy(), 1, "hash")], **more)
    (verdict,) = explain(deliveries, state="", world=world, now=at(0))[-1].verdicts
    return verdict


LEMON = policy(unless="node.lemon_score < 60", when='event.kind == "gpu.xid" && capacity.spares > 0')


def test_the_facts_that_were_asked_for_are_told_and_those_that_nobody_knows() -> None:
    known = StatedFacts({"node.lemon_score": 72, "capacity.spares": 2, "facts.age_seconds": 3})
    fired = only([delivery(event())], LEMON, facts=known)
    assert fired.fired
    assert str(fired.facts) == "facts (3 s old): capacity.spares is 2, node.lemon_score is 72"
    assert fired.findings[0].facts == {"node.lemon_score": 72, "capacity.spares": 2, "facts.age_seconds": 3.0}
    spared = only([delivery(event())], LEMON, facts=StatedFacts({"node.lemon_score": 12, "capacity.spares": 2}))
    assert (spared.outcome, spared.reason) == (
        Outcome.EXCEPTED,
        "unless `node.lemon_score < 60` is true: node.lemon_score is 12",
    )
    blind = only([delivery(event())], LEMON)
    assert (blind.outcome, str(blind.facts)) == (
        Outcome.UNANSWERED,
        "facts: not known: capacity.spares, node.lemon_score",
    )


def test_while_a_person_has_the_node_in_hand_what_fires_is_recorded_and_what_only_tells_is_told() -> None:
    known = StatedFacts({"node.in_maintenance": True})
    fired = only([delivery(event())], policy(), facts=known)
    assert fired.fired
    assert fired.then == ("it is recorded: decided: isolate, replace_node; i-1 is in maintenance",)
    telling = only([delivery(event())], policy(do=["alert"]), facts=known)
    assert telling.then == ("it is recorded: decided: alert",)
    free = only([delivery(event())], policy(), facts=StatedFacts({"node.in_maintenance": False}))
    assert free.then[0].startswith("it opens an incident")


def test_a_policy_that_asks_for_no_facts_tells_of_none() -> None:
    verdict = only([delivery(event())])
    assert verdict.facts is None
    assert verdict.document()["facts"] is None


@pytest.mark.parametrize(("kind", "said"), [("p5.48xlarge", "(p5.48xlarge) is 0"), ("", "(the whole cluster) is 3")])
def test_of_what_a_clusters_capacity_was_told_is_said(kind: str, said: str) -> None:
    look = Capacity(at=at(0), spares=3, by_type={"p5.48xlarge": Available(spares=0)})
    known = ReadFacts({("capacity", ""): ReadDocument(look, at(0))}, at(0))
    asked = policy(when='event.kind == "gpu.xid" && capacity.spares >= 0')
    whose = node().model_copy(update={"instance_type": kind})
    told = only([delivery(event(), identity=whose)], asked, facts=known).facts
    assert str(told) == f"facts (0 s old): capacity.spares {said}"
    assert told
    assert told.document()["of_what"] == {"capacity.spares": kind or "the whole cluster"}
