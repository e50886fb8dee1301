"""The guard on moto: what an operator writes into the table, and what the table then says."""

from typing import Any

import pytest
from types_boto3_dynamodb import DynamoDBClient

from functions.adapters.policies import DynamoPolicies
from functions.guard.catching_up import catch_up
from functions.guard.guard import Guard
from functions.triage.rulebooks import Rulebooks
from functions.twins.notices import MemoryNotices
from functions.twins.triage import MemoryTelemetry
from policies.contract.vocabulary import PolicyMode
from tests.tools.envelopes import NOW, shipped_documents
from tests.tools.policy_table import push

DOCUMENT = next(one for one in shipped_documents() if one["name"].startswith("xid-48"))
NAME = DOCUMENT["name"]


class Desk:
    def __init__(self, client: DynamoDBClient) -> None:
        self.client = client
        self.table = DynamoPolicies(client, "policies")
        self.telemetry = MemoryTelemetry()
        self.notices = MemoryNotices()
        self.guard = Guard(self.table, self.notices, self.telemetry, lambda: NOW)

    def edit(self, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a document
        self.table.put_live({**DOCUMENT, **changes})
        self.guard.look_at(NAME)
        return self.verdict()

    def verdict(self) -> dict[str, Any]:
        live = self.table.live(NAME)
        assert live is not None
        return dict(live.get("verdict") or self.table.answer_beside(NAME) or {})

    def writes(self) -> int:
        """Return how many changes the table's stream would have shown so far."""
        return sum(1 for _ in self.client.scan(TableName="policies")["Items"])


@pytest.fixture
def desk(client: DynamoDBClient) -> Desk:
    return Desk(client)


def test_good_then_bad_then_mended(desk: Desk) -> None:
    assert desk.edit()["status"] == "accepted"
    bad = desk.edit(settle="soon")
    assert (bad["status"], bad["revision"]) == ("rejected", 1)
    assert bad["problems"][0]["path"] == "settle"
    head = desk.table.head(NAME)
    assert head is not None
    assert head.revision == 1
    assert desk.edit(settle="20s")["revision"] == 2
    (rule,) = Rulebooks(desk.table, desk.telemetry).current().rules
    assert (rule.revision, rule.plan.settle_seconds) == (2, 20.0)


def test_its_own_write_ends_the_round(desk: Desk) -> None:
    desk.edit()
    before = desk.client.scan(TableName="policies")["Items"]
    desk.guard.look_at(NAME)
    assert desk.client.scan(TableName="policies")["Items"] == before


def test_an_item_as_large_as_dynamodb_allows_gets_its_answer_beside_it(desk: Desk) -> None:
    room = 405_000 - 80  # moto draws the line a little below the 400 KB of DynamoDB
    desk.client.put_item(
        TableName="policies",
        Item={"name": {"S": NAME}, "sk": {"S": "live"}, "junk": {"S": "x" * (room - len(NAME))}},
    )
    desk.guard.look_at(NAME)
    verdict = desk.verdict()
    assert verdict["status"] == "rejected"
    assert "at most 65536" in verdict["problems"][0]["reason"]
    assert desk.telemetry.counts["PoliciesRejected"] == 1
    assert desk.edit()["status"] == "accepted"
    assert desk.table.answer_beside(NAME) is None


def test_types_that_only_dynamodb_has_are_answered(desk: Desk) -> None:
    desk.table.put_live({**DOCUMENT, "extra": {b"\x00", b"\x01"}})
    desk.guard.look_at(NAME)
    assert desk.verdict()["problems"][0]["path"] == "extra"


def test_deleting_the_item_turns_the_policy_off(desk: Desk) -> None:
    desk.edit()
    desk.client.delete_item(TableName="policies", Key={"name": {"S": NAME}, "sk": {"S": "live"}})
    desk.guard.look_at(NAME)
    (heading,) = desk.table.headings()
    assert (heading.revision, heading.mode) == (2, PolicyMode.OFF)


def test_pushing_twice_is_one_edit(desk: Desk) -> None:
    first = push(desk.table, shipped_documents(), edited_by="anna", now=NOW)
    assert len(first) == len(shipped_documents())
    assert push(desk.table, shipped_documents(), edited_by="berta", now=NOW) == []
    for name in first:
        desk.guard.look_at(name)
    assert push(desk.table, shipped_documents(), edited_by="berta", now=NOW) == []
    live = desk.table.live(NAME)
    assert live is not None
    assert live["edited_by"] == "anna"
    assert desk.table.names() == sorted(first)


def test_one_misspelt_line_of_the_listing_keeps_no_policy_from_triage_and_is_mended_by_the_clock(desk: Desk) -> None:
    push(desk.table, [{**one, "mode": "active"} for one in shipped_documents()[:3]], edited_by="anna", now=NOW)
    for name in desk.table.names():
        desk.guard.look_at(name)
    names = desk.table.names()
    desk.client.update_item(
        TableName="policies",
        Key={"name": {"S": "HEADS"}, "sk": {"S": "head"}},
        UpdateExpression="SET #line.#mode = :word",
        ExpressionAttributeNames={"#line": f"p:{names[1]}", "#mode": "mode"},
        ExpressionAttributeValues={":word": {"S": "activ"}},
    )
    triage = Rulebooks(desk.table, desk.telemetry)
    assert sorted(rule.name for rule in triage.current().rules) == names
    catch_up(desk.table, desk.guard.look_at, desk.telemetry, lambda: NOW)
    assert [heading.is_readable for heading in desk.table.headings()] == [True, True, True]
    desk.telemetry.counts.clear()
    assert sorted(rule.name for rule in triage.current().rules) == names
    assert desk.telemetry.counts["PoliciesUnreadable"] == 0
