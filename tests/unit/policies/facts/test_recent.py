"""Who else has this fault within the hour, and shares a rack, a switch, a job or a type with the node."""

from datetime import timedelta

from policies.contract.envelope import NodeIdentity
from policies.contract.events import FaultEvent, JobRef, Scalar
from policies.facts.fact import About
from policies.facts.recent import RECENT, Recent, Sign
from tests.tools.envelopes import NOW, event, node

PATH = ("spine", "switch-1", "rack-1")
HERE = node().model_copy(update={"network_path": PATH})
TYPE = HERE.instance_type


def ask(*signs: Sign, told: FaultEvent | None = None, here: NodeIdentity = HERE) -> dict[str, Scalar]:
    document = RECENT.parse(Recent(cluster="c", signs=signs).model_dump_json(exclude_defaults=True))
    return dict(RECENT.answer(document, About(told or event(xid=119), here, NOW)))


def sign(
    instance: str, xid: int = 119, *, minutes: float = 5, job: str = "", rack: str = "rack-1", of: str = TYPE
) -> Sign:
    return Sign(f"gpu.xid {xid}", instance, NOW - timedelta(minutes=minutes), rack, "switch-1", job, of)


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
        "neighbours.same_kind_cluster": 2,
    }


def test_what_is_not_known_of_the_node_itself_is_left_out() -> None:
    bare = node().model_copy(update={"instance_type": ""})
    assert ask(sign("i-2"), here=bare) == {"neighbours.same_kind_cluster": 1}


def test_a_cluster_of_which_nothing_was_told_has_no_neighbours_in_trouble() -> None:
    facts = RECENT.answer(None, About(event(), HERE, NOW))
    assert set(facts.values()) == {0}
