"""The policies table: the twin and DynamoDB keep the same promises."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Protocol

import boto3
import pytest
from moto import mock_aws

from functions.adapters.policies import DynamoPolicies
from functions.ports.policies import Edit, EditedMeanwhileError, Head, Heading, PolicyEditor, PolicyStore, Seen
from functions.twins.policies import MemoryPolicies
from policies.contract.vocabulary import PolicyMode
from policies.documents import fingerprint
from tests.tools.envelopes import shipped_documents
from tests.tools.tables import create_policies_table

ITEM: dict[str, Any] = {
    "name": "p",
    "mode": "active",
    "count": {"at_least": Decimal(3), "share": Decimal("0.5")},
    "do": ["a"],
}


class Store(PolicyStore, PolicyEditor, Protocol):
    """With the pen of an operator."""

    def put_live(self, item: Mapping[str, Any]) -> None: ...


@pytest.fixture(params=["memory", "dynamodb"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryPolicies()
        return
    with mock_aws():
        client = boto3.client("dynamodb")
        create_policies_table(client)
        yield DynamoPolicies(client, "policies")


def head(revision: int = 1, mark: str = "h", name: str = "p", mode: PolicyMode = PolicyMode.ACTIVE) -> Head:
    return Head(name, revision, f"{mark}{revision}", mode, '{"name":"p"}')


EDIT = Edit(
    "kim",
    "2026-11-02T07:00:00.000000Z",
    "why",
    "ours",
    3,
    "mark",
    "2026-11-02T07:00:01.000000Z",
    0,
    ("a", "b"),
    "2026-11-02T07:00:00.000000Z",
    "2026-11-02T07:00:02.000000Z",
)


def test_an_empty_table_has_nothing(store: Store) -> None:
    assert store.live("p") is None
    assert store.head("p") is None
    assert list(store.headings()) == []
    assert list(store.names_of_heads()) == []
    assert list(store.list_anew()) == [], "and none is made of nothing"
    assert list(store.headings()) == []


def test_all_items_of_operators_are_seen_and_nothing_of_the_guards(store: Store) -> None:
    for at in range(3):
        store.put_live({**ITEM, "name": f"p-{at}"})
        store.put_revision(head(name=f"p-{at}"))
    found = {live["name"]: live for live in store.lives(["p-0", "p-1", "p-2", "p-1", "p-3"])}
    assert found.keys() == {"p-0", "p-1", "p-2"}
    assert {name for part in range(3) for names in store.names_in(part, 3) for name in names} == found.keys()
    assert fingerprint(found["p-1"]) == fingerprint({**ITEM, "name": "p-1"})
    assert store.calls_of("p-1") == []


def test_what_an_operator_writes_is_what_the_guard_reads(store: Store) -> None:
    store.put_live(ITEM)
    live = store.live("p")
    assert live is not None
    assert {**live, "sk": ""} == {**ITEM, "sk": ""}


def test_a_revision_is_kept_once_and_never_becomes_another(store: Store) -> None:
    first = replace(head(), edit=EDIT)
    assert store.put_revision(first) == first
    later = replace(first, edit=replace(EDIT, accepted_at="2026-11-02T08:00:00.000000Z"))
    assert store.put_revision(later) == first, "a repeat finds what was kept"
    with pytest.raises(EditedMeanwhileError):
        store.put_revision(head(mark="other"))
    assert store.revision("p", 1) == first
    assert store.revision("p", 2) is None


def test_revisions_are_read_newest_first_and_of_one_policy_only(store: Store) -> None:
    for number in (1, 2, 10, 9):
        store.put_revision(head(number))
    store.put_revision(head(1, name="p-2"))
    assert [each.revision for each in store.revisions("p")] == [10, 9, 2, 1]
    assert store.revisions("q") == []


def test_what_was_changed_by_hand_is_written_anew_whatever_is_there(store: Store) -> None:
    for each in (head(1), head(2)):
        store.put_revision(each)
        store.put_head(each, after=each.revision - 1)
        store.list_head(each)
    store.restore(head(1), Seen(head(2), head(2).heading))
    assert (store.head("p"), store.revision("p", 1)) == (head(1), head(1))
    assert store.heading("p") == Heading("p", 1, "h1", PolicyMode.ACTIVE)
    assert store.heading("q") is None


@pytest.mark.parametrize("seen", [Seen(head(1), head(1).heading), Seen(), Seen(head(2)), Seen(head(2, mark="x"))])
def test_what_another_guard_put_in_force_meanwhile_is_not_written_over(store: Store, seen: Seen) -> None:
    for each in (head(1), head(2, mode=PolicyMode.OFF)):
        store.put_revision(each)
        store.put_head(each, after=each.revision - 1)
        store.list_head(each)
    with pytest.raises(EditedMeanwhileError):
        store.restore(head(1), seen)
    assert store.heading("p") == Heading("p", 2, "h2", PolicyMode.OFF)


def test_what_is_gone_is_written_anew(store: Store) -> None:
    store.restore(head(1), Seen())
    assert (store.head("p"), store.heading("p")) == (head(1), head(1).heading)


def test_an_item_is_replaced_only_if_it_is_still_the_one_that_was_seen(store: Store) -> None:
    store.replace_live(None, ITEM)
    with pytest.raises(EditedMeanwhileError):
        store.replace_live(None, {**ITEM, "mode": "shadow"})
    seen = store.live("p")
    assert seen is not None
    store.answer("p", seen, {"status": "accepted"})
    store.replace_live(seen, {**ITEM, "mode": "off"})
    with pytest.raises(EditedMeanwhileError):
        store.replace_live(seen, {**ITEM, "mode": "shadow"})
    live = store.live("p")
    assert live is not None
    assert (live["mode"], "verdict" in live) == ("off", False)
    assert store.names() == ["p"]


def test_what_was_written_though_its_answer_was_lost_is_written_when_it_is_said_again(store: Store) -> None:
    store.replace_live(None, ITEM)
    store.replace_live(None, ITEM)
    seen = store.live("p")
    assert seen is not None
    edited = {**ITEM, "mode": "off", "edited_at": "2026-11-30T03:00:00Z"}
    store.replace_live(seen, edited)
    store.answer("p", edited, {"status": "accepted"})
    store.replace_live(seen, edited)
    live = store.live("p")
    assert live is not None
    assert (live["mode"], live["verdict"]) == ("off", {"status": "accepted"}), "the guard was quicker"


def test_a_verdict_on_another_edit_is_none_on_this_one(store: Store) -> None:
    store.put_live({**ITEM, "verdict": {"hash": fingerprint(ITEM), "status": "accepted"}})
    live = store.live("p")
    assert live is not None
    assert store.verdict(live) == {"hash": fingerprint(ITEM), "status": "accepted"}
    assert store.verdict({**live, "mode": "off"}) is None
    assert store.verdict({**live, "verdict": "accepted"}) is None
    store.forget_answer("p")


def test_a_head_follows_only_the_one_that_was_read(store: Store) -> None:
    store.put_head(head(1), after=0)
    with pytest.raises(EditedMeanwhileError):
        store.put_head(head(1, mark="other"), after=0)
    store.put_head(head(2), after=1)
    with pytest.raises(EditedMeanwhileError):
        store.put_head(head(2, mark="other"), after=1)
    assert store.head("p") == head(2)
    assert store.heads(["p", "HEADS", "nobody"]) == {"p": head(2)}


def test_the_listing_shows_the_latest_revision_of_each_policy(store: Store) -> None:
    store.list_head(head(2))
    store.list_head(head(1, mark="old"))
    store.list_head(head(1, name="q", mode=PolicyMode.OFF))
    listed = {heading.name: heading for heading in store.headings()}
    assert listed == {"p": Heading("p", 2, "h2", PolicyMode.ACTIVE), "q": Heading("q", 1, "h1", PolicyMode.OFF)}
    store.list_head(head(3))
    assert {heading.revision for heading in store.headings() if heading.name == "p"} == {3}


def test_a_verdict_stands_on_the_item_and_leaves_the_operators_fields_alone(store: Store) -> None:
    store.put_live(ITEM)
    seen = store.live("p")
    assert seen is not None
    store.answer("p", seen, {"status": "accepted", "revision": 1, "problems": []})
    live = store.live("p")
    assert live is not None
    assert live["verdict"] == {"status": "accepted", "revision": 1, "problems": []}
    assert {**live, "verdict": 0, "sk": 0} == {**ITEM, "verdict": 0, "sk": 0}
    store.answer("p", live, {"status": "rejected"})


@pytest.mark.parametrize(
    "edit",
    [
        {"mode": "off"},
        {"unless": "true"},
        {"count": {"at_least": Decimal(4), "share": Decimal("0.5")}},
        {"do": ["a", "b"]},
    ],
)
def test_a_verdict_on_what_was_edited_meanwhile_is_refused(store: Store, edit: dict[str, Any]) -> None:
    store.put_live(ITEM)
    seen = store.live("p")
    assert seen is not None
    store.put_live({**ITEM, **edit})
    with pytest.raises(EditedMeanwhileError):
        store.answer("p", seen, {"status": "accepted"})


def test_a_verdict_on_an_item_that_was_deleted_or_lost_a_field_is_refused(store: Store) -> None:
    with pytest.raises(EditedMeanwhileError):
        store.answer("p", ITEM, {"status": "accepted"})
    store.put_live({key: value for key, value in ITEM.items() if key != "do"})
    with pytest.raises(EditedMeanwhileError):
        store.answer("p", ITEM, {"status": "accepted"})


def test_real_policies_survive_the_way_there_and_back(store: Store) -> None:
    for document in shipped_documents():
        store.put_live(document)
        live = store.live(document["name"])
        assert live is not None
        store.answer(document["name"], live, {"status": "accepted"})


def test_the_listing_is_no_policy_whatever_an_operator_calls_one(store: Store) -> None:
    store.list_head(head())
    store.put_live({**ITEM, "name": "HEADS"})
    assert store.head("HEADS") is None
    assert [heading.name for heading in store.headings()] == ["p"]
