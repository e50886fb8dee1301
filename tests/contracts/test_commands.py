"""The table of commands from both sides: the twin and DynamoDB keep the same promises."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import boto3
import pytest
from moto import mock_aws

from agent.commands.dynamo import DynamoNodeTable
from agent.commands.table import NodeTable
from functions.adapters.commands import DynamoDBCommands
from functions.ports.commands import Commands
from functions.twins.commands import MemoryCommands
from policies.contract.commands.command import CommandRecord, CommandStatus, Result
from policies.contract.commands.operations import Operation, Taken
from policies.contract.errors import BadInputError, DependencyError
from tests.tools.commands import NODE, OTHER_NODE, at, claim, command, result
from tests.tools.tables import create_commands_table


@dataclass(frozen=True)
class Sides:
    pipeline: Commands
    of: Callable[[str], NodeTable]

    @property
    def node(self) -> NodeTable:
        return self.of(NODE)

    def stands(self) -> CommandRecord:
        found = self.pipeline.get(NODE, command().id)
        assert found is not None
        return found


@pytest.fixture(params=["memory", "dynamodb"])
def sides(request: pytest.FixtureRequest) -> Iterator[Sides]:
    if request.param == "memory":
        memory = MemoryCommands()
        yield Sides(memory, memory.of)
        return
    with mock_aws():
        client = boto3.client("dynamodb")
        create_commands_table(client)
        yield Sides(DynamoDBCommands(client, "commands"), lambda node: DynamoNodeTable("commands", "us-east-1", node))


def test_what_is_issued_is_seen_by_its_node_and_no_other(sides: Sides) -> None:
    record = sides.pipeline.put(command())
    assert (record.status, record.command) == (CommandStatus.PENDING, command())
    assert list(sides.node.look().records) == [record]
    assert list(sides.of(OTHER_NODE).look().records) == []
    assert sides.pipeline.get(NODE, command(name="another").id) is None


def test_the_first_of_an_id_stands(sides: Sides) -> None:
    first = sides.pipeline.put(command())
    sides.node.begin(first, claim())
    again = sides.pipeline.put(command(issued=60, params={"gpus": []}))
    assert again.command == command()
    assert again.status is CommandStatus.RUNNING


def test_a_command_runs_and_ends_with_its_result(sides: Sides) -> None:
    record = sides.pipeline.put(command())
    assert sides.node.begin(record, claim())
    assert sides.stands().claim == claim()
    assert sides.stands().overdue_at == at(1 + command().seconds)
    assert sides.node.end(sides.stands(), claim(), CommandStatus.DONE, result())
    assert (sides.stands().status, sides.stands().result) == (CommandStatus.DONE, result())
    assert list(sides.node.look().records) == []


def test_of_two_agents_one_begins(sides: Sides) -> None:
    record = sides.pipeline.put(command())
    assert sides.node.begin(record, claim(by="a"))
    assert not sides.node.begin(record, claim(by="b"))
    assert not sides.node.end(record, claim(by="b"), CommandStatus.FAILED, result())
    assert sides.stands().claim == claim(by="a")


def test_a_step_that_is_written_twice_is_one(sides: Sides) -> None:
    record = sides.pipeline.put(command())
    assert sides.node.begin(record, claim())
    assert sides.node.begin(record, claim())
    assert sides.node.end(record, claim(), CommandStatus.DONE, result())
    assert sides.node.end(record, claim(), CommandStatus.DONE, result())
    assert not sides.node.end(record, claim(), CommandStatus.FAILED, result(reason="no, it did not"))
    assert sides.stands().status is CommandStatus.DONE


def test_nobody_begins_what_has_expired(sides: Sides) -> None:
    record = sides.pipeline.put(command())
    late = claim((record.command.expires_at - at(0)).total_seconds())
    assert not sides.node.begin(record, late)
    assert sides.stands().status is CommandStatus.PENDING


def test_what_nobody_began_in_time_is_given_up_and_stays_so(sides: Sides) -> None:
    record = sides.pipeline.put(command())
    assert sides.pipeline.expire(record, at(89)).status is CommandStatus.PENDING
    assert sides.pipeline.expire(record, at(90)).status is CommandStatus.EXPIRED
    assert not sides.node.begin(record, claim(10))
    assert not sides.node.turn_down(record, result())
    assert sides.stands().status is CommandStatus.EXPIRED


def test_what_was_begun_in_the_last_moment_is_not_given_up(sides: Sides) -> None:
    record = sides.pipeline.put(command())
    sides.node.begin(record, claim(89))
    assert sides.pipeline.expire(record, at(95)).status is CommandStatus.RUNNING


def test_a_refusal_says_why_and_nothing_begins_after_it(sides: Sides) -> None:
    record = sides.pipeline.put(command())
    why = Result(at=at(2), reason="reset_gpu is not allowed on this node")
    assert sides.node.turn_down(record, why)
    assert sides.node.turn_down(record, why)
    assert not sides.node.begin(record, claim(3))
    assert (sides.stands().status, sides.stands().result) == (CommandStatus.REFUSED, why)


def test_what_was_never_issued_cannot_begin(sides: Sides) -> None:
    record = CommandRecord(command=command(name="unheard of"))
    assert not sides.node.begin(record, claim())
    assert not sides.node.turn_down(record, result())
    assert sides.pipeline.get(NODE, record.command.id) is None


def test_what_an_agent_takes_is_known_for_two_days(sides: Sides) -> None:
    assert sides.pipeline.taken(NODE, at(0)) is None
    taken = Taken(operations=(Operation.COLLECT_EVIDENCE,), boot_id="b", at=at(0))
    sides.node.announce(taken)
    assert sides.pipeline.taken(NODE, at(60)) == taken
    assert sides.pipeline.taken(OTHER_NODE, at(60)) is None
    assert sides.pipeline.taken(NODE, at(3 * 86400)) is None
    assert list(sides.node.look().records) == []


def test_an_item_that_nobody_can_read_is_told_to_the_pipeline_and_left_alone_by_the_node() -> None:
    with mock_aws():
        client = boto3.client("dynamodb")
        create_commands_table(client)
        DynamoDBCommands(client, "commands").put(command())
        key = {"pk": {"S": f"NODE#{NODE}"}, "sk": {"S": "CMD#1"}}
        client.put_item(TableName="commands", Item={**key, "status": {"S": "pending"}, "command": {"S": "{}"}})
        look = DynamoNodeTable("commands", "us-east-1", NODE).look()
        assert [record.command.id for record in look.records] == [command().id]
        with pytest.raises(BadInputError, match="by hand"):
            DynamoDBCommands(client, "commands").get(NODE, "1")


def test_a_table_that_is_not_there_is_a_dependency_that_failed() -> None:
    with mock_aws():
        node = DynamoNodeTable("commands", "us-east-1", NODE)
        record = CommandRecord(command=command())
        taken = Taken(operations=(), boot_id="b", at=at(0))
        for call in (node.look, lambda: node.begin(record, claim()), lambda: node.announce(taken)):
            with pytest.raises(DependencyError, match="ResourceNotFoundException"):
                call()
