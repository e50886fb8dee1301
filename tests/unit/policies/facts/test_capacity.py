"""What a look at a cluster's capacity answers, and for how long."""

from datetime import timedelta

import pytest

from policies.contract.events import Scalar
from policies.facts.capacity import CAPACITY, Capacity, read_capacity, why_none
from policies.facts.fact import About
from tests.tools.envelopes import NOW, event, node


def ask(document: Capacity | None, seconds: float = 0) -> dict[str, Scalar]:
    read = None if document is None else CAPACITY.parse(document.to_json())
    return dict(CAPACITY.answer(read, About(event(), node(), NOW + timedelta(seconds=seconds))))


WHOLE = Capacity(at=NOW, spares=2, reserved=8, reserved_free=0, headroom=4)


def test_a_look_of_the_last_minutes_answers_what_it_found() -> None:
    assert ask(WHOLE) == {"capacity.spares": 2, "capacity.reserved_free": 0, "capacity.headroom": 4}
    assert ask(WHOLE, 300) == ask(WHOLE)


@pytest.mark.parametrize(("document", "seconds"), [(None, 0), (WHOLE, 301), (Capacity(at=NOW), 0)])
def test_no_look_an_old_one_and_one_that_found_out_nothing_answer_nothing(
    document: Capacity | None, seconds: float
) -> None:
    assert ask(document, seconds) == {}


def test_a_part_that_nobody_knows_is_left_out_and_none_is_not_unknown() -> None:
    assert ask(Capacity(at=NOW, spares=0, unknown={"headroom": "no right"})) == {"capacity.spares": 0}


@pytest.mark.parametrize("text", [None, "", "junk", "{}", '{"at": "soon"}'])
def test_what_cannot_be_read_is_no_look(text: str | None) -> None:
    assert read_capacity(text) is None
    assert read_capacity(WHOLE.to_json()) == WHOLE


def test_a_look_or_a_refusal_of_a_time_to_come_keeps_no_node_from_being_replaced() -> None:
    ahead = NOW + timedelta(days=400)
    refused = Capacity(at=NOW, spares=0, refused_at=NOW, refused="no capacity")
    assert why_none(refused, NOW)
    assert why_none(refused.model_copy(update={"at": ahead}), NOW) == ""
    assert why_none(refused.model_copy(update={"refused_at": ahead}), NOW) == ""
    assert ask(WHOLE.model_copy(update={"at": ahead})) == {}
