"""What a look at a cluster's capacity answers, and for how long."""

from datetime import timedelta
from typing import Any

import pytest

from policies.contract.base import Model
from policies.contract.events import Scalar
from policies.contract.times import Moment
from policies.facts.capacity import CAPACITY, Available, Capacity, read_capacity, why_none
from policies.facts.fact import About
from policies.facts.snapshot import ReadDocument, ReadFacts
from tests.tools.envelopes import NOW, event, node

P5, P4 = "p5.48xlarge", "p4d.24xlarge"


def ask(document: Capacity | None, seconds: float = 0, kind: str = P5) -> dict[str, Scalar]:
    read = None if document is None else CAPACITY.parse(document.to_json())
    whose = node().model_copy(update={"instance_type": kind})
    return dict(CAPACITY.answer(read, About(event(), whose, NOW + timedelta(seconds=seconds))))


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
    assert why_none(refused, NOW, P5)
    assert why_none(refused.model_copy(update={"at": ahead}), NOW, P5) == ""
    assert why_none(refused.model_copy(update={"refused_at": ahead}), NOW, P5) == ""
    assert ask(WHOLE.model_copy(update={"at": ahead})) == {}


REFUSED: Any = {"refused_at": NOW, "refused": "no p4d"}
MIXED = WHOLE.model_copy(
    update={
        "by_type": {
            P5: Available(spares=2, reserved=8, reserved_free=0, headroom=1),
            P4: Available(spares=0, reserved=0, reserved_free=0, headroom=3, **REFUSED),
        },
        **REFUSED,
    }
)


def test_a_node_asks_for_what_is_there_for_its_type_and_of_an_unknown_one_for_the_whole_cluster() -> None:
    assert ask(MIXED) == {"capacity.spares": 2, "capacity.reserved_free": 0, "capacity.headroom": 1}
    assert ask(MIXED, kind=P4) == {"capacity.spares": 0, "capacity.reserved_free": 0, "capacity.headroom": 3}
    assert ask(MIXED, kind="g5.xlarge") == ask(MIXED, kind="") == ask(WHOLE)


def test_what_is_unknown_of_a_type_is_not_taken_from_the_whole_cluster() -> None:
    found = MIXED.model_copy(update={"by_type": {P5: Available(headroom=1)}})
    assert ask(found) == {"capacity.headroom": 1}
    assert why_none(found, NOW, P5) == ""


def test_the_sentence_names_the_type_that_it_was_judged_by() -> None:
    assert (
        why_none(MIXED, NOW, P4) == f"no spare for {P4}, and the last launch was refused at {NOW:%H:%M:%S} UTC: no p4d"
    )
    full = MIXED.model_copy(update={"by_type": {P5: Available(spares=0, reserved=8, reserved_free=0)}})
    assert why_none(full, NOW, P5) == f"no spare for {P5}, and all 8 slots reserved for it are taken"
    assert why_none(full, NOW, "g5.xlarge") == ""
    whole = full.model_copy(update={"spares": 0, "refused_at": None})
    assert why_none(whole, NOW, "g5.xlarge") == "no spare, and all 8 reserved slots are taken"


def test_nodes_of_two_types_are_answered_each_for_its_own_by_the_same_facts() -> None:
    facts = ReadFacts({("capacity", ""): ReadDocument(MIXED, NOW)}, NOW)
    asked = [node().model_copy(update={"instance_type": kind}) for kind in (P5, P4, P5, "")]
    assert [facts.read("capacity.spares", event(), each) for each in asked] == [2, 0, 2, 2]
    told = [facts.of_what("capacity.spares", event(), each) for each in asked]
    assert told == [P5, P4, P5, "the whole cluster"]
    assert facts.of_what("node.lemon_score", event(), asked[0]) == ""


def test_a_document_of_before_types_were_told_is_read_as_the_whole_cluster() -> None:
    before = f'{{"at":"{NOW.isoformat()}","spares":0,"reserved":8,"reserved_free":0,"headroom":4,"unknown":{{}}}}'
    read = read_capacity(before)
    assert read == Capacity(at=NOW, spares=0, reserved=8, reserved_free=0, headroom=4)
    assert why_none(read, NOW, P5) == "no spare, and all 8 reserved slots are taken"


class CapacityBefore(Model):
    """What a reader knew of the document before types were told."""

    at: Moment
    spares: int | None = None
    reserved: int | None = None
    reserved_free: int | None = None
    headroom: int | None = None
    refused_at: Moment | None = None
    refused: str = ""
    unknown: dict[str, str] = {}


def test_a_reader_of_before_types_were_told_reads_the_whole_clusters_figures_of_a_new_document() -> None:
    old = CapacityBefore.model_validate_json(MIXED.to_json())
    assert old.model_dump() == MIXED.model_dump(exclude={"by_type"})
