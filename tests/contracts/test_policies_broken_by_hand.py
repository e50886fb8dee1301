"""What a person may make of the guard's items on a real table hides nothing else, and is written over only as seen."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.adapters.policies import DynamoPolicies
from functions.guard.mending import standing_of
from functions.ports.policies import BrokenItemError, EditedMeanwhileError, Head, Heading, Seen
from policies.contract.vocabulary import PolicyMode
from policies.documents import fingerprint
from tests.tools.tables import create_policies_table

GOOD = Head("good", 1, fingerprint({"name": "good", "mode": "active"}), PolicyMode.ACTIVE, "{}")
BAD = Head(
    "bad", 1, fingerprint({"name": "bad", "mode": "active"}), PolicyMode.ACTIVE, '{"name":"bad","mode":"active"}'
)
OFF = replace(BAD, revision=2, hash="off", mode=PolicyMode.OFF)
LINE = {"revision": {"N": "1"}, "hash": {"S": BAD.hash}, "mode": {"S": "active"}}
LINES: dict[str, Any] = {
    "a misspelt mode": {"M": {**LINE, "mode": {"S": "activ"}}},
    "a revision in words": {"M": {**LINE, "revision": {"S": "1"}}},
    "no revision": {"M": {**LINE, "revision": {"N": "0"}}},
    "half a revision": {"M": {**LINE, "revision": {"N": "1.5"}}},
    "no hash": {"M": {"revision": {"N": "1"}, "mode": {"S": "active"}}},
    "a word": {"S": "off"},
    "nothing": {"NULL": True},
    "bytes": {"B": b"\x00"},
    "a set": {"SS": ["a", "b"]},
}
HEADS: dict[str, Any] = {
    "a misspelt mode": {"mode": {"S": "activ"}},
    "a revision in words": {"revision": {"S": "1"}},
    "a hash in numbers": {"hash": {"N": "1"}},
    "bytes and lists": {"revision": {"B": b"\x01"}, "document": {"L": []}},
}
KEYS = {"head": {"name": {"S": "bad"}, "sk": {"S": "head"}}, "HEADS": {"name": {"S": "HEADS"}, "sk": {"S": "head"}}}


class Table:
    def __init__(self) -> None:
        self.client = boto3.client("dynamodb")
        create_policies_table(self.client)
        self.store = DynamoPolicies(self.client, "policies")
        for head in (GOOD, BAD):
            self.store.put_revision(head)
            self.store.put_head(head, after=0)
            self.store.list_head(head)

    def change(self, item: str, **values: Any) -> None:  # noqa: ANN401 - in DynamoDB's form
        there = self.client.get_item(TableName="policies", Key=KEYS[item])["Item"]
        self.client.put_item(TableName="policies", Item={**there, **values})


@pytest.fixture
def table() -> Iterator[Table]:
    with mock_aws():
        yield Table()


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_broken_line_hides_no_other_and_is_written_anew(table: Table, line: Any) -> None:  # noqa: ANN401
    table.change("HEADS", **{"p:bad": line})
    assert sorted(table.store.headings(), key=lambda one: one.name) == [Heading.unreadable("bad"), GOOD.heading]
    standing = standing_of(table.store, "bad")
    assert (standing.head, bool(standing.mend)) == (BAD, True)
    table.store.restore(BAD, standing.seen)
    assert table.store.heading("bad") == BAD.heading


@pytest.mark.parametrize("values", HEADS.values(), ids=HEADS)
def test_a_broken_head_hides_no_other_and_is_written_anew(table: Table, values: dict[str, Any]) -> None:
    table.change("head", **values)
    assert table.store.heads(["good", "bad"]) == {"good": GOOD}
    standing = standing_of(table.store, "bad")
    table.store.restore(BAD, standing.seen)
    assert table.store.head("bad") == BAD


def test_a_line_of_a_name_that_makes_no_key_is_passed_over(table: Table) -> None:
    table.change("HEADS", **{"p:": {"S": "off"}, f"p:{'x' * 2049}": {"S": "off"}})
    assert {each.name for each in table.store.headings()} == {"good", "bad"}


def test_what_was_seen_broken_and_was_mended_meanwhile_is_not_written_over(table: Table) -> None:
    table.change("HEADS", **{"p:bad": {"S": "off"}})
    seen = standing_of(table.store, "bad").seen
    table.change("head", mode={"S": "activ"})
    broken = standing_of(table.store, "bad").seen
    table.store.restore(BAD, broken)
    table.store.put_head(OFF, after=1)
    table.store.list_head(OFF)
    for each in (seen, broken):
        with pytest.raises(EditedMeanwhileError):
            table.store.restore(BAD, each)
        assert (table.store.head("bad"), table.store.heading("bad")) == (OFF, OFF.heading)


def test_of_two_who_find_a_revision_that_nobody_can_read_only_one_takes_its_number(table: Table) -> None:
    """The loser's revision would else stand under the head of the other."""
    table.client.put_item(
        TableName="policies", Item={"name": {"S": "bad"}, "sk": {"S": "rev#00000002"}, "revision": {"S": "x"}}
    )
    with pytest.raises(BrokenItemError) as found:
        table.store.revision("bad", 2)
    read = table.store.revision
    table.store.put_revision(OFF)
    assert read("bad", 2) == OFF

    def late(name: str, number: int) -> Head | None:
        raise found.value

    table.store.revision = late  # type: ignore[method-assign]
    with pytest.raises(EditedMeanwhileError):
        table.store.put_revision(replace(OFF, hash="other"))
    assert read("bad", 2) == OFF


def test_an_answer_beside_an_item_is_removed_only_if_there_is_one(table: Table) -> None:
    deleted: list[str] = []
    table.client.meta.events.register("before-call.dynamodb.DeleteItem", lambda **_: deleted.append("once"))
    table.store.forget_answer("bad")
    assert deleted == []
    for item in ({"verdict": {"M": {"hash": {"S": "x"}}}}, {}):
        key = {"name": {"S": "bad"}, "sk": {"S": "answer"}}
        table.client.put_item(TableName="policies", Item={**key, **item})
        table.store.forget_answer("bad")
        assert "Item" not in table.client.get_item(TableName="policies", Key=key)


def test_nothing_seen_is_nothing_there(table: Table) -> None:
    with pytest.raises(EditedMeanwhileError):
        table.store.restore(BAD, Seen())
