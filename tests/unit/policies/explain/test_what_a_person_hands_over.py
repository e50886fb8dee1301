"""A few words of events tell a story as examples do: when each happened, and on which node."""

import json
from typing import Any

import pytest

from console.policy.screen import Wanted, print_events
from policies.contract.errors import BadInputError
from policies.explain.explaining import Explained, World, explain
from policies.explain.reading import deliveries_in
from policies.explain.verdicts import Outcome
from policies.model import Policy
from policies.rulebook import AcceptedPolicy
from tests.tools.envelopes import NOW, at, event, node, policy

PART = {"type": "gpu", "pci": "0000:4b:00"}
XID = {"kind": "gpu.xid", "attributes": {"xid": 79}, "component": PART}
THRICE = policy(count={"at_least": 3, "within": "1h", "occurrence": "30s"})


def told(values: Any, *policies: Policy) -> list[Explained]:  # noqa: ANN401 - JSON of any shape
    world = World([AcceptedPolicy(one, 1, "hash") for one in policies])
    return explain(deliveries_in(json.dumps(values), node(), NOW), state="", world=world)


def outcomes(explained: list[Explained]) -> list[Outcome]:
    return [each.verdicts[0].outcome for each in explained]


def test_three_in_an_hour_are_explained_by_their_after() -> None:
    found = told([XID, {**XID, "after": "10m"}, {**XID, "after": "20m"}], THRICE)
    assert outcomes(found) == [Outcome.WAITS, Outcome.WAITS, Outcome.FIRED]
    assert [each.verdicts[0].reason[:18] for each in found] == [f"{n} of 3 occurrences" for n in (1, 2, 3)]
    assert [each.moment for each in found] == [at(-1200), at(-600), NOW], "the last of them happens now"


def test_without_after_companions_are_one_occurrence() -> None:
    assert outcomes(told([XID, XID, XID], THRICE)) == [Outcome.WAITS] * 3


def test_what_happened_first_is_no_late_word_because_more_followed() -> None:
    first, _ = told([XID, {**XID, "after": "2h"}], policy())
    (verdict,) = first.verdicts
    assert verdict.fired
    assert "late" not in verdict.reason
    assert verdict.then[0].startswith("it opens an incident")


def test_a_story_is_told_in_the_order_of_time() -> None:
    found = told([{**XID, "after": "20m"}, XID, {**XID, "after": "10m"}], THRICE)
    assert outcomes(found) == [Outcome.WAITS, Outcome.WAITS, Outcome.FIRED]


def test_nodes_and_racks_are_those_that_the_events_name() -> None:
    many = policy(count={"at_least": 2, "per": "rack", "distinct": "node.instance_id"}, do=["page_operator"])
    one, two = ({**XID, "node": f"node-{number}", "rack": "r1"} for number in (1, 2))
    assert outcomes(told([one, two], many)) == [Outcome.WAITS, Outcome.FIRED]
    assert outcomes(told([one, {**two, "rack": "r2"}], many)) == [Outcome.WAITS, Outcome.WAITS]
    assert [each.node.name for each in told([one, XID], many)] == ["node-1", node().name]


@pytest.mark.parametrize(("written", "hint"), [("79", "Leave the quotes out: 79."), ("mmu", "Write the number.")])
def test_a_text_where_agents_send_a_number_is_refused(written: str, hint: str) -> None:
    with pytest.raises(BadInputError, match=r"event 2: attributes\.xid is a number, not the text") as refused:
        told([XID, {"kind": "gpu.xid", "attributes": {"xid": written}}], policy())
    assert refused.value.hint == hint


def test_an_event_that_was_sent_so_is_explained_and_its_text_shows(capsys: pytest.CaptureFixture[str]) -> None:
    sent = json.loads(event(xid=79).to_json())
    sent["attributes"]["xid"] = "79"
    print_events(told(sent, policy()), Wanted())
    assert 'gpu.xid (xid "79" (text, not a number)' in capsys.readouterr().out


@pytest.mark.parametrize("words", [{"foo": 1}, {"after": 600}, {"after": "3d"}])
def test_what_an_example_would_refuse_is_refused_here(words: dict[str, Any]) -> None:
    with pytest.raises(BadInputError, match="event 1: "):
        told([{**XID, **words}], policy())
