"""What happened once is an example of the policy that found it, and ends as it ended."""

from datetime import timedelta
from pathlib import Path

import pytest

from policies.contract.vocabulary import Kind
from policies.examples import outcomes, tell
from policies.loader import load_text
from policies.model import Example, ExampleEvent, Policy
from policies.recording.making import MOST_EVENTS, Recording, Wish, record
from policies.recording.noted import noted
from policies.recording.sightings import sightings_of
from policies.recording.telling import span
from tests.tools.recordings import happened, seen_in

SHIPPED = Path(__file__).parents[4] / "policies" / "shipped"
THREE_ECC = """
name: three-errors
mode: active
why: Three errors of one GPU within an hour.
when: event.kind == "gpu.ecc_uncorrected"
count: {at_least: 3, within: 1h, per: component, occurrence: 30s}
unless: has(event.attributes.counter) && event.attributes.counter == "aggregate"
do: [alert]
"""
GPU = {"type": "gpu", "pci": "0000:4b:00"}


def policy_of(text: str = THREE_ECC) -> Policy:
    loaded = load_text(text)
    assert isinstance(loaded, Policy), loaded
    return loaded


def ecc(*seconds: float, **more: object) -> list[ExampleEvent]:
    told = {"kind": "gpu.ecc_uncorrected", "component": GPU, **more}
    return [ExampleEvent.model_validate({**told, "after": span(at)}) for at in seconds]


def story(*events: ExampleEvent) -> Example:
    return Example.trusted(says="", events=events, findings=1, facts={})


def recorded(policy: Policy, example: Example, wish: Wish | None = None) -> Recording:
    incident, deliveries = happened(policy, example)
    found = record(incident, policy, seen_in(incident, policy, deliveries), wish or Wish())
    assert found is not None
    return found


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_story_of_a_shipped_policy_that_really_happens_is_recorded_as_an_example_that_passes(path: Path) -> None:
    policy = load_text(path.read_bytes(), try_examples=False)
    assert isinstance(policy, Policy)
    example = next((one for one in policy.examples if one.findings), None)
    assert example is not None, "each shipped policy finds something in one of its stories"
    made = recorded(policy, example)
    assert made.found == made.happened == example.findings
    assert made.passes
    (outcome,) = outcomes(policy.model_copy(update={"examples": (made.example,)}))
    assert outcome.passed


def test_only_what_the_policy_asks_about_is_told_with_what_its_exception_says() -> None:
    other = ExampleEvent.trusted(kind=Kind.HOST_OOPS, after=61.0, attributes={})
    excepted = ecc(45, attributes={"counter": "aggregate"})
    made = recorded(policy_of(), story(*ecc(0, 60, 120), *excepted, other))
    assert [(event["kind"], event.get("after")) for event in made.document["events"]] == [
        ("gpu.ecc_uncorrected", None),
        ("gpu.ecc_uncorrected", "45s"),
        ("gpu.ecc_uncorrected", "1m"),
        ("gpu.ecc_uncorrected", "2m"),
    ]
    assert (made.left_out, made.found) == (1, 1)


def test_companions_stay_when_asked_for() -> None:
    other = ExampleEvent.trusted(kind=Kind.HOST_OOPS, after=61.0, attributes={})
    made = recorded(policy_of(), story(*ecc(0, 60, 120), other), Wish(every=True))
    assert [event["kind"] for event in made.document["events"]].count("host.oops") == 1


def test_what_must_not_fire_again_is_an_example_that_fails_until_the_policy_is_mended() -> None:
    made = recorded(policy_of(), story(*ecc(0, 60, 120)), Wish(findings=0, says="a test of ours"))
    assert (made.found, made.document["findings"], made.passes) == (1, 0, False)
    assert made.example.says == "a test of ours"


def test_a_storm_is_thinned_to_what_an_example_has_room_for_and_is_still_found() -> None:
    made = recorded(policy_of(), story(*ecc(*[each * 2.5 for each in range(200)])))
    assert len(made.document["events"]) <= MOST_EVENTS
    assert made.thinned >= 150
    assert (made.found > 0, made.passes, made.is_as_it_was) == (True, True, True)


def test_what_is_alike_and_close_is_told_once_with_its_count_where_that_ends_the_same() -> None:
    policy = policy_of(THREE_ECC.replace("at_least: 3", "at_least: 80").replace(", occurrence: 30s", ""))
    made = recorded(policy, story(*ecc(*[each * 1.0 for each in range(90)])))
    assert sum(event.get("count", 1) for event in made.document["events"]) == 90
    assert (len(made.document["events"]) <= MOST_EVENTS, made.found) == (True, made.happened)


def test_events_that_the_agent_sent_again_are_told_once() -> None:
    policy, example = policy_of(), story(*ecc(0, 60, 120))
    incident, deliveries = happened(policy, example)
    again = [*deliveries, *deliveries]
    made = record(incident, policy, seen_in(incident, policy, again), Wish())
    assert made is not None
    assert len(made.document["events"]) == 3


def test_other_nodes_are_none_of_the_incident() -> None:
    policy = policy_of()
    incident, deliveries = happened(policy, story(*ecc(0, 60, 120)))
    others = tell(story(*ecc(0, 30, node="node-2")))
    assert len(seen_in(incident, policy, [*deliveries, *others])) == 3


def test_a_policy_that_asks_about_nothing_of_it_gets_no_example() -> None:
    policy = policy_of(THREE_ECC.replace("gpu.ecc_uncorrected", "gpu.lost"))
    incident, deliveries = happened(policy_of(), story(*ecc(0, 60, 120)))
    assert record(incident, policy, list(sightings_of(deliveries)), Wish()) is None


def test_without_an_archive_a_finding_stands_for_as_many_events_as_it_counted() -> None:
    policy = policy_of()
    incident, _deliveries = happened(policy, story(*ecc(0, 60, 120)))
    seen = list(noted(incident, policy.name))
    assert [one.moment - seen[0].moment for one in seen] == [timedelta(0), timedelta(minutes=1), timedelta(minutes=2)]
    made = record(incident, policy, seen, Wish())
    assert made is not None
    assert (made.found, made.happened, made.is_as_it_was) == (1, 1, True)


def test_facts_are_those_that_it_was_decided_by() -> None:
    policy = policy_of().model_copy(update={"when": 'event.kind == "gpu.ecc_uncorrected" && node.lemon_score > 50'})
    told = story(*ecc(0, 60, 120)).model_copy(update={"facts": {"node.lemon_score": 72}})
    incident, deliveries = happened(policy, told)
    made = record(incident, policy, seen_in(incident, policy, deliveries), Wish())
    assert made is not None
    assert made.document["facts"] == {"node.lemon_score": 72}
    assert made.passes


@pytest.mark.parametrize(("condition", "told"), [('node.driver_version == "570.148.08"', "570.148.08"), ("true", None)])
def test_the_driver_is_told_where_the_policy_asks_for_it(condition: str, told: str | None) -> None:
    policy = policy_of(THREE_ECC.replace("when: event.kind", f"when: {condition} && event.kind"))
    example = story(*ecc(0, 60, 120)).model_copy(update={"driver_version": "570.148.08"})
    made = recorded(policy, example)
    assert made.document.get("driver_version") == told
    assert made.found == made.happened == 1
