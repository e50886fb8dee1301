"""A table brought back from its backup under the same name, and a batch of many: what is in force is what stands there.

A restored table has another stream, which nobody reads yet: only the clock makes the guard look.
"""

from typing import Any

import boto3
import pytest
from types_boto3_dynamodb import DynamoDBClient

from functions.adapters.policies import DynamoPolicies
from functions.guard.catching_up import catch_up
from functions.guard.guard import Guard
from functions.triage.rulebooks import Rulebooks
from functions.twins.notices import MemoryNotices
from functions.twins.triage import MemoryTelemetry
from policies.documents import canonical, operators_fields
from tests.tools.envelopes import NOW
from tests.tools.tables import create_policies_table

PLAIN = {"mode": "active", "why": "A test.", "when": 'event.kind == "gpu.lost"', "do": ["alert"]}
Items = list[dict[str, Any]]


class Desk:
    """The table, what triage keeps of it while it is warm, and a guard that is woken by the clock."""

    def __init__(self, client: DynamoDBClient) -> None:
        self.client, self.telemetry, self.notices = client, MemoryTelemetry(), MemoryNotices()
        self.table = DynamoPolicies(client, "policies")
        self.guard = Guard(self.table, self.notices, self.telemetry, lambda: NOW)
        self.triage = Rulebooks(self.table, self.telemetry)

    def put(self, name: str, **fields: Any) -> None:  # noqa: ANN401 - fields of a document
        self.table.put_live({"name": name, **PLAIN, **fields})

    def catch_up(self) -> None:
        catch_up(self.table, self.guard.look_at, self.telemetry, lambda: NOW)

    def backup(self) -> Items:
        found: Items = self.client.scan(TableName="policies", ConsistentRead=True)["Items"]
        return found

    def restore(self, items: Items) -> None:
        self.client.delete_table(TableName="policies")
        create_policies_table(self.client)
        for item in items:
            self.client.put_item(TableName="policies", Item=item)

    def priorities(self) -> dict[str, int]:
        """Return what triage judges by now."""
        return {rule.name: rule.plan.priority for rule in self.triage.current().rules}

    def agree(self) -> None:
        """Item, head, revision and listing say the same of every policy that is there."""
        for name in self.table.names():
            live, head = self.table.live(name), self.table.head(name)
            assert live is not None
            assert head is not None
            assert head.document == canonical(operators_fields(live))
            assert self.table.revision(name, head.revision) == head
            assert live["verdict"]["revision"] == head.revision


@pytest.fixture
def desk(client: DynamoDBClient) -> Desk:
    return Desk(client)


def test_revisions_that_a_restore_took_away_are_given_anew_and_triage_takes_none_for_the_other(desk: Desk) -> None:
    desk.put("p", priority=1)
    desk.catch_up()
    yesterday = desk.backup()
    for priority in (2, 3):
        desk.put("p", priority=priority)
        desk.catch_up()
    assert desk.priorities() == {"p": 3}
    desk.restore(yesterday)
    desk.catch_up()
    assert desk.priorities() == {"p": 1}
    desk.put("p", priority=7)
    desk.catch_up()
    assert desk.priorities() == {"p": 7}, "revision 2 once more, and another one"
    desk.agree()


def test_a_backup_from_the_middle_of_an_edit_is_brought_to_its_end(desk: Desk) -> None:
    """Point-in-time recovery may cut anywhere between the guard's writes."""
    desk.put("p", priority=1)
    desk.catch_up()
    before = {(item["name"]["S"], item["sk"]["S"]): item for item in desk.backup()}
    desk.put("p", priority=2)
    desk.catch_up()
    after = {(item["name"]["S"], item["sk"]["S"]): item for item in desk.backup()}
    bare = {**after["p", "live"]}
    bare.pop("verdict")
    steps: list[dict[tuple[str, str], dict[str, Any]]] = [{("p", "live"): bare}]
    for key in (("p", "rev#00000002"), ("p", "head"), ("HEADS", "head")):
        steps.append({**steps[-1], key: after[key]})
    for step in steps:
        desk.restore(list({**before, **step}.values()))
        desk.catch_up()
        assert desk.priorities() == {"p": 2}, step.keys()
        desk.agree()
    assert desk.notices.told == {}


def test_fifty_items_written_in_batches_are_judged_each(desk: Desk) -> None:
    items = [
        {"name": f"p-{at:02}", "sk": "live", **PLAIN, "settle": "soon" if at % 10 == 0 else "5s"} for at in range(50)
    ]
    table = boto3.resource("dynamodb").Table("policies")
    with table.batch_writer() as batch:
        for item in items:
            batch.put_item(Item=item)
    desk.catch_up()
    assert len(desk.priorities()) == 45
    assert sum(1 for notice in desk.notices.told.values() if notice.kind == "rejected") == 5
    before = desk.backup()
    desk.catch_up()
    assert desk.backup() == before
