"""What must be known beside an event before it is judged: documents of facts, and where its node is in the network."""

import pytest

from policies.contract.vocabulary import Kind
from policies.rulebook import Rulebook
from tests.tools.envelopes import event, policy, rules

RACK = "neighbours.same_kind_rack == 0"
CANCELLED = f'event.kind == "host.panic" && {RACK} && capacity.spares == 1'


def asked(book: Rulebook, kind: Kind) -> frozenset[str]:
    return book.facts_asked(event(kind=kind, xid=None))


def test_a_kind_that_only_cancels_asks_for_its_facts_whatever_was_asked_before() -> None:
    fresh, used = (rules(policy(cancel_when=CANCELLED)) for _ in range(2))
    assert asked(used, Kind.NODE_SILENT) == frozenset()
    assert asked(used, Kind.HOST_PANIC) == asked(fresh, Kind.HOST_PANIC) == {"capacity", "recent"}
    assert asked(fresh, Kind.NODE_SILENT) == frozenset()


def test_an_xid_that_no_policy_names_asks_for_nothing_by_another_kind() -> None:
    book = rules(policy(when=f"event.attributes.xid == 79 && {RACK}"))
    assert [book.facts_asked(event(xid=xid)) for xid in (31, 79, None)] == [frozenset(), {"recent"}, {"recent"}]


@pytest.mark.parametrize(
    "changes",
    [
        {"when": f"event.attributes.xid == 79 && {RACK}"},
        {"unless": '"rack-1" in node.network_path'},
        {"cancel_when": CANCELLED},
        {"count": {"at_least": 2, "within": "1m", "distinct": "node.network_path"}},
        {"count": {"at_least": 2, "within": "1m", "per": "rack"}, "do": ["alert"]},
    ],
)
def test_a_policy_asks_where_the_node_is_in_whatever_part_of_it_reads_that(changes: dict[str, object]) -> None:
    assert rules(policy(**changes)).asks_path


def test_a_place_that_is_only_named_in_a_text_is_not_asked_for() -> None:
    assert not rules(policy(when='event.message == "node.network_path"')).asks_path


def test_who_may_cancel_is_concerned_as_who_may_match_is() -> None:
    book = rules(policy(cancel_when=CANCELLED))
    assert [len([*book.concerned(event(kind=kind))]) for kind in (Kind.HOST_PANIC, Kind.GPU_XID, Kind.HOST_OOPS)] == [
        1,
        1,
        0,
    ]
