"""The listing is there whole or not at all: whoever makes it anew makes it of all heads, in one write."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.adapters.policies import DynamoPolicies
from functions.adapters.policy_items import head_item, key_of, line_of, typed
from functions.guard.mending import standing_of
from functions.ports.policies import Head, Heading, PolicyStore
from functions.twins.policies import MemoryPolicies
from policies.contract.vocabulary import PolicyMode
from policies.documents import canonical, fingerprint
from tests.tools.tables import create_policies_table

TABLE = "policies"


def head(name: str, revision: int = 1) -> Head:
    document = {"name": name, "mode": "active", "priority": revision}
    return Head(name, revision, fingerprint(document), PolicyMode.ACTIVE, canonical(document))


A, B, C = head("a"), head("b", 7), head("c", 2)


@dataclass
class Desk:
    store: PolicyStore
    lose: Callable[[], object]
    break_head: Callable[[str], object]

    def lines(self) -> dict[str, Heading]:
        return {each.name: each for each in self.store.headings()}


def in_memory() -> Desk:
    table = MemoryPolicies()
    return Desk(table, table.listing.clear, lambda name: table.broken.update({name: "junk"}))


def on_dynamodb() -> Desk:
    client = boto3.client("dynamodb")
    create_policies_table(client)

    def break_head(name: str) -> None:
        client.put_item(TableName=TABLE, Item={**key_of(name, "head"), "revision": {"S": "x"}})

    return Desk(
        DynamoPolicies(client, TABLE),
        lambda: client.delete_item(TableName=TABLE, Key=key_of("HEADS", "head")),
        break_head,
    )


@pytest.fixture(params=[in_memory, on_dynamodb])
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    with mock_aws():
        made: Desk = request.param()
        for each in (A, B, C):
            made.store.put_revision(each)
            made.store.put_head(each, after=0)
            made.store.list_head(each)
        yield made


def test_heads_are_found_without_it(desk: Desk) -> None:
    desk.lose()
    assert desk.lines() == {}
    assert sorted(desk.store.names_of_heads()) == ["a", "b", "c"]


@pytest.mark.parametrize("how", ["a line", "by itself"])
def test_the_first_line_that_is_put_brings_all_others(desk: Desk, how: str) -> None:
    desk.lose()
    if how == "a line":
        desk.store.list_head(B)
    else:
        assert {each.name for each in desk.store.list_anew()} == {"a", "b", "c"}
    assert desk.lines() == {"a": A.heading, "b": B.heading, "c": C.heading}


def test_what_is_there_is_not_made_anew(desk: Desk) -> None:
    before = desk.lines()
    later = head("a", 2)
    desk.store.put_head(later, after=1)
    assert {each.name: each for each in desk.store.list_anew()} == before
    desk.store.list_head(later)
    assert desk.lines() == {**before, "a": later.heading}


def test_an_older_head_does_not_come_back_with_it(desk: Desk) -> None:
    later = head("a", 2)
    desk.store.put_head(later, after=1)
    desk.lose()
    desk.store.list_head(A)
    assert desk.lines()["a"] == later.heading


def test_a_broken_head_keeps_a_line_by_which_it_is_asked_and_mended(desk: Desk) -> None:
    desk.lose()
    desk.break_head("b")
    assert sorted(desk.store.names_of_heads()) == ["a", "b", "c"]
    desk.store.list_head(A)
    assert desk.lines() == {"a": A.heading, "b": Heading.unreadable("b"), "c": C.heading}
    standing = standing_of(desk.store, "b")
    assert standing.head == B
    desk.store.restore(B, standing.seen)
    assert desk.lines()["b"] == B.heading


def test_a_head_that_is_mended_as_the_listing_is_gone_brings_all_lines(desk: Desk) -> None:
    desk.lose()
    desk.break_head("b")
    desk.store.restore(B, standing_of(desk.store, "b").seen)
    assert desk.lines() == {"a": A.heading, "b": B.heading, "c": C.heading}


def test_of_two_guards_who_make_it_at_once_both_are_in_it() -> None:
    with mock_aws():
        desk = on_dynamodb()
        table: Any = desk.store
        client = table._client  # between the scan and the write of the other
        desk.store.put_head(A, after=0)
        put, meanwhile = client.put_item, [C]

        def late(**asked: Any) -> Any:  # noqa: ANN401 - of a call
            if asked["Item"]["name"] == {"S": "HEADS"} and meanwhile:
                other = meanwhile.pop()
                put(TableName=TABLE, Item=typed(head_item(other, "head")))
                desk.store.list_head(other)
            return put(**asked)

        client.put_item = late
        desk.store.list_head(A)
        assert desk.lines() == {"a": A.heading, "c": C.heading}
        later = replace(A, revision=2)
        desk.store.put_head(later, after=1)
        desk.store.list_head(later)
        assert desk.lines()["a"] == later.heading


def test_a_head_that_found_no_listing_is_in_the_one_that_another_guard_makes_before_it_looks_again() -> None:
    with mock_aws():
        desk = on_dynamodb()
        table: Any = desk.store
        client = table._client
        desk.store.put_head(A, after=0)
        update, meanwhile = client.update_item, [C]

        def early(**asked: Any) -> Any:  # noqa: ANN401 - of a call
            try:
                return update(**asked)
            finally:  # it was refused, as there is no listing; the other had looked for heads before this one was there
                if meanwhile:
                    desk.store.put_head(meanwhile.pop(), after=0)
                    item = {**key_of("HEADS", "head"), **typed({f"p:{C.name}": line_of(C)})}
                    client.put_item(TableName=TABLE, Item=item)

        client.update_item = early
        desk.store.list_head(A)
        assert desk.lines() == {"a": A.heading, "c": C.heading}
