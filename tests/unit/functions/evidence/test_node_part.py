"""The node's own part of the evidence: asked for, waited for a little, never in vain."""

import json
from typing import Any

from functions.acts.support import Pace
from functions.evidence.collect import CollectEvidence
from functions.evidence.node_part import NodeEvidence
from functions.nodes.asking import Asking
from functions.twins.commands import MemoryCommands
from functions.twins.instances import MemoryInstances
from functions.twins.objects import MemoryObjects
from policies.contract.commands.command import Claim, Command, CommandRecord, CommandStatus, Result
from policies.contract.commands.operations import Operation, Taken
from policies.contract.decisions import RungReport
from policies.contract.errors import DependencyError
from policies.contract.rungs import RungStatus
from tests.tools.act_contexts import INCIDENT, Clock, Drive

ARNS = "arn:aws:ec2:us-east-1:123456789012:instance/"
ADDRESS = "s3://evidence/nodes/i/b/c/manifest.json"


class World:
    def __init__(self, commands: MemoryCommands | None = None) -> None:
        self.clock = Clock()
        self.instances, self.objects = MemoryInstances(self.clock), MemoryObjects(self.clock)
        self.node = self.instances.launch("gpus")
        self.commands = commands or MemoryCommands()
        self.table = self.commands.of(ARNS + self.node)
        self.table.announce(Taken(operations=(Operation.COLLECT_EVIDENCE,), boot_id="b", at=self.clock.now))
        asking = Asking(commands=self.commands, instance_arns=ARNS, pace=Pace())
        act = CollectEvidence(
            instances=self.instances, objects=self.objects, bucket="evidence", node=NodeEvidence(asking)
        )
        self.drive = Drive(act, self.clock, node=self.node)

    def begin(self) -> Claim:
        claim = Claim(by="spool", boot_id="b", at=self.clock.now)
        (record,) = self.table.look().records
        assert self.table.begin(record, claim)
        return claim

    def waited(self) -> float:
        began = self.clock.now
        report = self.drive.until_done(step_seconds=2)
        assert report.status is RungStatus.DONE
        return (self.clock.now - began).total_seconds()

    def manifest(self) -> dict[str, Any]:
        stored = self.objects.get("evidence", f"incidents/{INCIDENT}/manifest.json")
        assert stored
        told: dict[str, Any] = json.loads(stored.body)
        return told


def test_what_the_node_kept_is_named_in_the_manifest() -> None:
    world = World()
    assert world.drive().status is RungStatus.WAITING
    claim = world.begin()
    (record,) = world.table.look().records
    world.table.end(record, claim, CommandStatus.DONE, Result(at=world.clock.now, address=ADDRESS))
    report = world.drive()
    assert (report.status, report.outcome["node_evidence"]) == (RungStatus.DONE, ADDRESS)
    assert world.manifest()["node"] == {"command": record.command.id, "status": "done", "address": ADDRESS}


def test_the_other_parts_are_kept_at_the_first_look_and_once() -> None:
    world = World()
    world.drive()
    assert len(world.objects.writes) == 5
    world.clock.move(20)
    assert world.drive().status is RungStatus.DONE
    assert len(world.objects.writes) == 6
    assert [part["key"].rpartition("/")[2] for part in world.manifest()["parts"]][-1] == "console.txt"


def test_an_agent_that_does_not_begin_holds_nothing_up_for_long() -> None:
    world = World()
    assert world.waited() <= 16
    assert world.manifest()["node"]["status"] == "pending"


def test_one_that_began_gets_its_minute_and_no_more() -> None:
    world = World()
    world.drive()
    world.begin()
    assert 70 <= world.waited() <= 80
    assert world.manifest()["node"]["status"] == "running"


def test_where_no_agent_takes_it_nobody_is_waited_for() -> None:
    world = World()
    world.commands.agents.clear()
    assert world.drive().status is RungStatus.DONE
    assert "takes no commands" in world.manifest()["node"]["error"]


class Away(MemoryCommands):
    def get(self, node: str, command_id: str) -> CommandRecord | None:
        raise DependencyError("reading a command failed: Throttled.")

    def put(self, command: Command) -> CommandRecord:
        raise DependencyError("issuing a command failed: Throttled.")


def test_a_table_that_is_away_holds_nothing_up() -> None:
    world = World(Away())
    report: RungReport = world.drive()
    assert report.status is RungStatus.DONE
    assert "Throttled" in world.manifest()["node"]["error"]


def test_a_crash_between_two_looks_asks_no_second_time() -> None:
    world = World()
    world.drive()
    world.drive.restart()
    world.drive()
    assert len(world.commands.records) == 1
