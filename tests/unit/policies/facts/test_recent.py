"""Who else has this fault within the hour, and shares a rack, a switch, a job or a type with the node."""

import json
from datetime import timedelta

from policies.contract.envelope import NodeIdentity
from policies.contract.events import FaultEvent, JobRef, Scalar
from policies.facts.fact import About
from policies.facts.recent import RECENT, Recent, Sign
from policies.facts.snapshot import ReadDocument, ReadFacts
from tests.tools.envelopes import NOW, event, node

PATH = ("spine", "switch-1", "rack-1")
DRIVER, OTHER = "570.148.08", "580.95.05"
HERE = node().model_copy(update={"network_path": PATH, "driver_version": DRIVER})
TYPE = HERE.instance_type


def ask(*signs: Sign, told: FaultEvent | None = None, here: NodeIdentity = HERE) -> dict[str, Scalar]:
    document = RECENT.parse(Recent(cluster="c", signs=signs).model_dump_json(exclude_defaults=True))
    return dict(RECENT.answer(document, About(told or event(xid=119), here, NOW)))


def sign(
    instance: str,
    xid: int = 119,
    *,
    minutes: float = 5,
    job: str = "",
    rack: str = "rack-1",
    of: str = TYPE,
    driver: str = DRIVER,
) -> Sign:
    return Sign(f"gpu.xid {xid}", instance, NOW - timedelta(minutes=minutes), rack, "switch-1", job, of, driver)


def test_other_nodes_with_the_same_code_count_by_what_they_share() -> None:
    facts = ask(
        sign("i-1"),
        sign("i-2", job="a"),
        sign("i-3", rack="rack-2", of="p4d.24xlarge"),
        sign("i-4", xid=79),
        sign("i-5", minutes=61),
        told=event(xid=119, job=JobRef(id="a")),
    )
    assert facts == {
        "neighbours.same_kind_rack": 1,
        "neighbours.same_kind_switch": 2,
        "neighbours.same_kind_job": 1,
        "neighbours.same_kind_type": 1,
        "neighbours.same_kind_driver": 2,
        "neighbours.same_kind_cluster": 2,
    }


def test_what_is_not_known_of_the_node_itself_is_left_out() -> None:
    bare = node().model_copy(update={"instance_type": "", "driver_version": ""})
    assert ask(sign("i-2"), here=bare) == {"neighbours.same_kind_cluster": 1}


def test_a_cluster_of_which_nothing_was_told_has_no_neighbours_in_trouble() -> None:
    facts = RECENT.answer(None, About(event(), HERE, NOW))
    assert set(facts.values()) == {0}


def test_a_driver_counts_by_its_version_whatever_the_type_and_nobody_s_is_taken_for_another_s() -> None:
    told = [sign("i-2"), sign("i-3", of="p4d.24xlarge"), sign("i-4", driver=OTHER), sign("i-5", driver="")]
    facts = ask(*told)
    assert (facts["neighbours.same_kind_driver"], facts["neighbours.same_kind_type"]) == (2, 3)
    unknown = ask(*told, here=HERE.model_copy(update={"driver_version": ""}))
    assert "neighbours.same_kind_driver" not in unknown
    assert unknown["neighbours.same_kind_type"] == 3


def test_a_document_of_before_drivers_were_told_is_read_and_counts_for_no_driver() -> None:
    old = Recent(cluster="c", signs=(sign("i-2"),)).model_dump(mode="json")
    old["signs"] = [each[:7] for each in old["signs"]]
    known = ReadFacts({("recent", ""): ReadDocument(RECENT.parse(json.dumps(old)), NOW)}, NOW)
    assert known.read("neighbours.same_kind_type", event(xid=119), HERE) == 1
    assert known.read("neighbours.same_kind_driver", event(xid=119), HERE) == 0


def test_a_node_whose_driver_is_replaced_within_a_batch_is_answered_for_each() -> None:
    recent = Recent(cluster="c", signs=(sign("i-2"), sign("i-3"), sign("i-4", driver=OTHER)))
    known = ReadFacts({("recent", ""): ReadDocument(RECENT.parse(recent.to_json()), NOW)}, NOW)
    after = HERE.model_copy(update={"driver_version": OTHER})
    answers = [known.read("neighbours.same_kind_driver", event(xid=119), each) for each in (HERE, after, HERE)]
    assert answers == [2, 1, 2]
