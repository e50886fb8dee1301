"""Whatever a console can write into the table: a verdict, what readers see, and as many invocations as it takes.

The table's stream feeds the guard here as Lambda would, batch by batch, so that each invocation is counted.
"""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.dynamodb.models import dynamodb_backends

from functions.adapters.notices import DynamoNotices
from functions.adapters.policies import DynamoPolicies
from functions.guard.changes import handle_changes
from functions.guard.guard import Guard
from functions.guard.mending import is_sound
from functions.outbox.notices import announcement_of
from functions.ports.policies import DELETED, UNKNOWN, Head
from functions.triage.rulebooks import Rulebooks
from functions.twins.triage import MemoryTelemetry
from policies.contract.vocabulary import PolicyMode
from policies.documents import canonical, operators_fields
from tests.tools.envelopes import NOW, shipped_documents
from tests.tools.tables import create_policies_table, create_tables

DOCUMENT = {**next(one for one in shipped_documents() if one["name"].startswith("xid-48")), "mode": "active"}
NAME = DOCUMENT["name"]
KEY = {"name": {"S": NAME}, "sk": {"S": "live"}}
TEXT = "x" * 1000
ACCOUNT = "123456789012"  # moto's


class Desk:
    """The table, its stream, and the guard at the stream's end."""

    def __init__(self) -> None:
        self.client = boto3.client("dynamodb")
        create_tables(self.client)
        create_policies_table(self.client, stream=True)
        region = self.client.meta.region_name
        self._shard = dynamodb_backends[ACCOUNT][region].tables["policies"].stream_shard
        self._read = 0
        self.table = DynamoPolicies(self.client, "policies")
        self.telemetry = MemoryTelemetry()
        self.guard = Guard(self.table, DynamoNotices(self.client, "incidents"), self.telemetry, lambda: NOW)

    def invoke(self) -> int:
        """Let the guard follow the stream to its end; return how many invocations that took."""
        invocations = 0
        while records := self._records():
            invocations += 1
            assert invocations < 9, "the guard takes its own writes for edits"
            assert handle_changes({"Records": records}, self.guard.look_at, self.guard.tell_lost) == []
        return invocations

    def _records(self) -> list[dict[str, Any]]:
        """Return what the stream has by now, as Lambda hands it to the function."""
        assert self._shard is not None
        found = [record.to_json() for record in self._shard.items[self._read :]]
        self._read += len(found)
        return found

    def put(self, item: Mapping[str, Any]) -> int:
        self.table.put_live(item)
        return self.invoke()

    def update(self, **values: dict[str, Any]) -> int:
        """Set attributes in DynamoDB's own form, as the console's form view does."""
        self.client.update_item(
            TableName="policies",
            Key=KEY,
            UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in values),
            ExpressionAttributeNames={f"#{name}": name for name in values},
            ExpressionAttributeValues={f":{name}": value for name, value in values.items()},
        )
        return self.invoke()

    def live(self) -> dict[str, Any]:
        live = self.table.live(NAME)
        assert live is not None
        return dict(live)

    def verdict(self) -> dict[str, Any]:
        verdict = self.table.verdict(self.live())
        assert verdict is not None
        return dict(verdict)

    def head(self) -> Head:
        head = self.table.head(NAME)
        assert head is not None
        return head

    def notices(self) -> list[str]:
        items = self.client.scan(TableName="incidents")["Items"]
        told = [announcement_of({"dynamodb": {"NewImage": item}}) for item in items]
        return [each.type for each in told if each]


@pytest.fixture(scope="module")
def shared() -> Iterator[Desk]:
    with mock_aws():
        yield Desk()


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """The document is in force, and nothing waits."""
    shared.put(DOCUMENT)
    assert shared.verdict()["status"] == "accepted"
    return shared


def test_an_edit_takes_two_invocations_one_to_judge_it_and_one_to_see_that_nothing_is_left(desk: Desk) -> None:
    assert desk.put({**DOCUMENT, "priority": 1}) == 2
    assert desk.update(priority={"N": "2"}) == 2
    assert desk.update(settle={"S": "soon"}) == 2
    assert desk.invoke() == 0
    assert desk.head().mode is PolicyMode.ACTIVE


def nested(levels: int) -> dict[str, Any]:
    return {"L": [nested(levels - 1)]} if levels else {"L": []}


BAD: Mapping[str, dict[str, Any]] = {
    "a number as text": {"count": {"M": {"at_least": {"S": "3"}}}},
    "text as a number": {"settle": {"N": "10"}},
    "a set of texts with a wrong word": {"do": {"SS": ["isolate", "replace"]}},
    "a set of numbers": {"cites": {"NS": ["1", "2"]}},
    "a set of binaries": {"why": {"BS": [b"\x01", b"\x00", b"\x02"]}},
    "binary": {"why": {"B": b"\xff\xfe"}},
    "nothing": {"when": {"NULL": True}},
    "true": {"do": {"BOOL": True}},
    "a map for a text": {"when": {"M": {"S": {"S": "x"}}}},
    "a number of 38 digits": {"priority": {"N": "9" * 38}},
    "a huge number": {"priority": {"N": "9.9e125"}},
    "an unknown field of odd letters": {"Größe :#x": {"S": "1"}},
    "deep nesting": {"limits": nested(16)},
    "many fields": {f"field{number}": {"S": TEXT} for number in range(200)},
    "yaml in one field": {"count": {"S": "{at_least: 3, within: 1h}"}},
    "an empty text": {"when": {"S": ""}},
}  # fmt: skip


@pytest.mark.parametrize("values", BAD.values(), ids=BAD)
def test_a_bad_edit_is_answered_with_its_reasons_and_changes_nothing(desk: Desk, values: dict[str, Any]) -> None:
    before, told = desk.head(), len(desk.notices())
    item = desk.client.get_item(TableName="policies", Key=KEY)["Item"]
    desk.client.put_item(TableName="policies", Item={**item, **values})
    assert desk.invoke() == 2
    verdict = desk.verdict()
    assert (verdict["status"], verdict["revision"], verdict["by"]) == ("rejected", before.revision, UNKNOWN)
    assert all({"path", "reason", "hint"} <= set(one) and one["reason"] for one in verdict["problems"])
    assert desk.head() == before
    assert len(desk.notices()) == told + 1
    assert len(Rulebooks(desk.table, desk.telemetry).current().rules) == 1


VERDICTS: Mapping[str, dict[str, Any]] = {
    "text": {"S": "accepted"},
    "a list": {"L": [{"M": {"status": {"S": "accepted"}}}]},
    "half of one": {"M": {"status": {"S": "accepted"}}},
    "one with the operator's fields": {"M": {"mode": {"S": "off"}, "when": {"S": "true"}}},
    "null": {"NULL": True},
}


@pytest.mark.parametrize("forged", VERDICTS.values(), ids=VERDICTS)
def test_a_verdict_that_somebody_wrote_is_written_anew(desk: Desk, forged: dict[str, Any]) -> None:
    before = desk.head()
    assert desk.update(verdict=forged) == 2
    assert desk.verdict()["status"] == "accepted"
    assert desk.head() == before


def test_an_old_verdict_that_comes_with_a_bad_edit_is_not_believed(desk: Desk) -> None:
    old = desk.live()
    desk.put({**old, "do": ["replace_node"]})
    assert desk.verdict()["status"] == "rejected"
    assert desk.head().document == canonical(operators_fields(DOCUMENT))


def test_a_whole_item_under_another_name_is_a_policy_of_its_own(desk: Desk) -> None:
    desk.put({**desk.live(), "name": "pasted-copy"})
    head = desk.table.head("pasted-copy")
    assert head is not None
    assert (head.revision, head.edit.by) == (1, UNKNOWN)
    desk.client.delete_item(TableName="policies", Key={**KEY, "name": {"S": "pasted-copy"}})
    assert desk.invoke() == 2
    off = desk.table.head("pasted-copy")
    assert off is not None
    assert (off.mode, off.hash) == (PolicyMode.OFF, f"{DELETED}{head.hash}")


@pytest.mark.parametrize("name", ["HEADS", "#shadow#x", "Not A Name", "ü" * 1000])
def test_an_item_whose_key_is_no_name_is_refused(desk: Desk, name: str) -> None:
    before = desk.table.headings()
    desk.put({**DOCUMENT, "name": name})
    live = desk.table.live(name)
    assert live is not None
    assert live["verdict"]["status"] == "rejected"
    desk.client.delete_item(TableName="policies", Key={"name": {"S": name}, "sk": {"S": "live"}})
    assert desk.invoke() == 1
    assert desk.table.headings() == before


def test_an_item_as_large_as_dynamodb_allows_is_answered_beside_it(desk: Desk) -> None:
    before = desk.head()
    room = 404_000 - sum(len(key) for key in DOCUMENT)  # moto draws the line a little below the 400 KB of DynamoDB
    desk.client.put_item(TableName="policies", Item={**KEY, "junk": {"S": "x" * room}})
    assert desk.invoke() <= 2
    assert desk.verdict()["status"] == "rejected"
    assert desk.head() == before
    assert desk.put(DOCUMENT) == 2
    assert desk.table.answer_beside(NAME) is None


def test_a_deletion_is_off_with_a_notice_and_a_new_item_is_on_again(desk: Desk) -> None:
    before = desk.head().revision
    desk.client.delete_item(TableName="policies", Key=KEY)
    assert desk.invoke() == 2
    assert (desk.head().mode, desk.head().revision) == (PolicyMode.OFF, before + 1)
    assert "Policy Deleted" in desk.notices()
    assert desk.put(DOCUMENT) == 2
    assert (desk.head().mode, desk.head().revision) == (PolicyMode.ACTIVE, before + 2)


def test_of_two_who_save_at_once_the_later_is_judged_and_both_are_kept(desk: Desk) -> None:
    before = desk.head().revision
    desk.table.put_live({**DOCUMENT, "priority": 7})
    answer = desk.table.answer

    def meanwhile(name: str, seen: Mapping[str, Any], verdict: Mapping[str, Any]) -> None:
        desk.table.answer = answer  # type: ignore[method-assign]
        desk.table.put_live({**DOCUMENT, "priority": 8})
        answer(name, seen, verdict)

    desk.table.answer = meanwhile  # type: ignore[method-assign]
    assert desk.invoke() == 2
    assert desk.live()["priority"] == Decimal(8)
    assert (desk.head().revision, desk.verdict()["revision"]) == (before + 2, before + 2)
    assert [each.revision for each in desk.table.revisions(NAME)][:2] == [before + 2, before + 1]


def harm(sort: str, **values: Any) -> Callable[[Desk], None]:  # noqa: ANN401 - of any type
    def do(desk: Desk) -> None:
        name, key = ("HEADS", "head") if sort == "HEADS" else (NAME, sort)
        item = desk.client.get_item(TableName="policies", Key={"name": {"S": name}, "sk": {"S": key}})["Item"]
        desk.client.put_item(TableName="policies", Item={**item, **values})

    return do


def delete(sort: str) -> Callable[[Desk], None]:
    def do(desk: Desk) -> None:
        name, key = ("HEADS", "head") if sort == "HEADS" else (NAME, sort)
        desk.client.delete_item(TableName="policies", Key={"name": {"S": name}, "sk": {"S": key}})

    return do


def harm_revision(desk: Desk) -> None:
    harm(f"rev#{desk.head().revision:08d}", document={"N": "1"}, revision={"S": "x"})(desk)


AHEAD = {"revision": {"N": "999"}, "hash": {"S": "x"}, "mode": {"S": "off"}}
HARMS: Mapping[str, Callable[[Desk], None]] = {
    "the mode of the head": harm("head", mode={"S": "off"}),
    "a head that is none": harm("head", revision={"S": "x"}, document={"L": []}),
    "the document of the head": harm("head", document={"S": '{"name": "x"}'}),
    "the revision in force": harm_revision,
    "no head": delete("head"),
    "no listing": delete("HEADS"),
    "a line of the listing that is none": harm("HEADS", **{f"p:{NAME}": {"S": "off"}}),
    "a line that is ahead": harm("HEADS", **{f"p:{NAME}": {"M": AHEAD}}),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_what_only_the_guard_writes_is_put_right(desk: Desk, harm: Callable[[Desk], None]) -> None:
    before, lines = desk.head(), {each.name: each for each in desk.table.headings()}
    harm(desk)
    assert desk.invoke() <= 3
    assert desk.head() == before
    assert is_sound(desk.head())
    assert desk.table.heading(NAME) == lines[NAME]
    assert len(Rulebooks(desk.table, desk.telemetry).current().rules) == 1


def test_a_revision_that_nobody_can_read_holds_no_edit_up(desk: Desk) -> None:
    number = desk.head().revision + 1
    desk.client.put_item(
        TableName="policies", Item={"name": {"S": NAME}, "sk": {"S": f"rev#{number:08d}"}, "revision": {"S": "x"}}
    )
    desk.put({**DOCUMENT, "priority": 44})
    assert (desk.head().revision, desk.verdict()["status"]) == (number, "accepted")
