"""The whole listing is deleted in a console: no worker of triage, warm or cold, misses a policy at any moment."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.dynamodb.models import dynamodb_backends

from functions.adapters.notices import DynamoNotices
from functions.adapters.policies import DynamoPolicies
from functions.adapters.policy_items import key_of
from functions.guard.catching_up import catch_up
from functions.guard.changes import handle_changes
from functions.guard.guard import Guard
from functions.outbox.notices import announcement_of
from functions.triage.rulebooks import Rulebooks
from functions.twins.triage import MemoryTelemetry
from tests.tools.envelopes import NOW, shipped_documents
from tests.tools.policy_table import push
from tests.tools.tables import create_policies_table, create_tables

DOCUMENTS = [{**each, "mode": "active"} for each in shipped_documents()[:4]]
ALL = sorted(each["name"] for each in DOCUMENTS)
ACCOUNT = "123456789012"  # moto's


class Desk:
    """A table with four policies, its stream, a warm worker of triage, and whatever a cold one makes of each moment."""

    def __init__(self) -> None:
        self.client = boto3.client("dynamodb")
        create_tables(self.client)
        create_policies_table(self.client, stream=True)
        self._shard = dynamodb_backends[ACCOUNT][self.client.meta.region_name].tables["policies"].stream_shard
        self._read = 0
        self.table, self.telemetry = DynamoPolicies(self.client, "policies"), MemoryTelemetry()
        self.guard = Guard(self.table, DynamoNotices(self.client, "incidents"), self.telemetry, lambda: NOW)
        push(self.table, DOCUMENTS, edited_by="anna", now=NOW)
        self.follow()
        self.warm = Rulebooks(self.table, self.telemetry)
        assert self.names(self.warm) == ALL
        self.telemetry.counts.clear()
        self.client.meta.events.register("after-call.dynamodb.PutItem", self._look)
        self.client.meta.events.register("after-call.dynamodb.UpdateItem", self._look)
        self.seen_by_cold = list[list[str]]()

    def _look(self, **_: object) -> None:
        self.seen_by_cold.append(self.names(Rulebooks(self.table, MemoryTelemetry())))

    def names(self, worker: Rulebooks) -> list[str]:
        return sorted(rule.name for rule in worker.current().rules)

    def delete(self) -> None:
        self.client.delete_item(TableName="policies", Key=key_of("HEADS", "head"))

    def follow(self) -> int:
        assert self._shard is not None
        invocations = 0
        while records := [record.to_json() for record in self._shard.items[self._read :]]:
            self._read += len(records)
            invocations += 1
            assert invocations < 9
            assert handle_changes({"Records": records}, self.guard.look_at, self.guard.tell_lost) == []
        return invocations

    def told(self) -> list[Any]:
        items = self.client.scan(TableName="incidents")["Items"]
        told = (announcement_of({"dynamodb": {"NewImage": item}}) for item in items)
        return [each for each in told if each]


@pytest.fixture
def desk() -> Iterator[Desk]:
    with mock_aws():
        yield Desk()


def test_the_streams_guard_makes_it_anew_in_one_write_and_people_are_told_once(desk: Desk) -> None:
    before = sorted(desk.table.headings(), key=lambda one: one.name)
    desk.delete()
    cold = Rulebooks(desk.table, desk.telemetry)
    for worker in (desk.warm, cold, cold):
        assert desk.names(worker) == ALL
    assert desk.telemetry.counts["PoliciesUnreadable"] == 2 * len(ALL)
    assert desk.follow() == 2
    assert sorted(desk.table.headings(), key=lambda one: one.name) == before
    assert desk.seen_by_cold
    assert all(each == ALL for each in desk.seen_by_cold)
    (told,) = desk.told()
    assert (told.type, told.detail["policies"]) == ("Policy Mended", ALL)
    assert "removed by hand from the listing" in told.detail["text"]
    desk.telemetry.counts.clear()
    assert desk.names(desk.warm) == ALL
    assert desk.telemetry.counts["PoliciesUnreadable"] == 0


def test_the_clock_finds_it_though_the_stream_told_nobody_and_a_policy_was_deleted_meanwhile(desk: Desk) -> None:
    desk.delete()
    desk.client.delete_item(TableName="policies", Key=key_of(ALL[0], "live"))
    catch_up(desk.table, desk.guard.look_at, desk.telemetry, lambda: NOW)
    assert {each.name: each.mode.value for each in desk.table.headings()} == {
        ALL[0]: "off",
        **dict.fromkeys(ALL[1:], "active"),
    }
    assert desk.names(desk.warm) == desk.names(Rulebooks(desk.table, desk.telemetry)) == ALL[1:]
    assert all(each in (ALL, ALL[1:]) for each in desk.seen_by_cold)
