import json
from collections.abc import Sequence
from typing import Any

from functions.evidence.collect import PART_LIMIT_BYTES, CollectEvidence
from functions.ports.instances import Instance
from functions.twins.instances import MemoryInstances
from functions.twins.objects import MemoryObjects
from policies.contract.errors import DependencyError
from policies.contract.rungs import RungStatus
from tests.tools.act_contexts import INCIDENT, Clock, Drive

FOLDER = f"incidents/{INCIDENT}"


class World:
    def __init__(self, instances: type[MemoryInstances] = MemoryInstances) -> None:
        self.clock = Clock()
        self.instances = instances(self.clock)
        self.objects = MemoryObjects(self.clock)
        self.node = self.instances.launch("gpus")
        self.instances.console_texts[self.node] = "NVRM: Xid (PCI:0000:9a:00): 79"

    def drive(self, objects: object = None) -> Drive:
        act = CollectEvidence(instances=self.instances, objects=objects or self.objects, bucket="evidence")  # type: ignore[arg-type]
        return Drive(act, self.clock, node=self.node, messages=("first line", "second line"), facts={"isolated": "n"})

    def read(self, name: str) -> bytes:
        stored = self.objects.get("evidence", f"{FOLDER}/{name}")
        assert stored is not None
        return stored.body

    def manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads(self.read("manifest.json"))
        return manifest


def test_every_part_is_kept_under_the_incident_and_listed() -> None:
    world = World()
    report = world.drive()()
    assert (report.status, report.outcome) == (
        RungStatus.DONE,
        {"evidence": f"s3://evidence/{FOLDER}/manifest.json"},
    )
    names = ["incident.json", "findings.json", "messages.txt", "instance.json", "console.txt"]
    assert [part["key"] for part in world.manifest()["parts"]] == [f"{FOLDER}/{name}" for name in names]
    assert world.read("console.txt") == b"NVRM: Xid (PCI:0000:9a:00): 79"
    assert world.read("messages.txt") == b"first line\nsecond line"
    incident = json.loads(world.read("incident.json"))
    assert (incident["id"], incident["facts"], incident["node"]["instance_id"]) == (
        INCIDENT,
        {"isolated": "n"},
        world.node,
    )


def test_what_is_no_instance_of_ec2_is_not_looked_for_there() -> None:
    world = World()
    drive = world.drive()
    drive.node = "training-job/llama"
    assert drive().status is RungStatus.DONE
    names = ["incident.json", "findings.json", "messages.txt"]
    assert [part["key"] for part in world.manifest()["parts"]] == [f"{FOLDER}/{name}" for name in names]


def test_what_was_kept_first_stays() -> None:
    world = World()
    drive = world.drive()
    first = drive()
    world.instances.console_texts[world.node] = "rebooted, all is well"
    world.clock.move(60)
    assert drive().outcome == first.outcome
    assert world.read("console.txt").startswith(b"NVRM: Xid")
    assert len(world.objects.writes) == len(set(world.objects.writes)) == 6


def test_the_end_of_an_endless_console_is_kept() -> None:
    world = World()
    world.instances.console_texts[world.node] = "x" * PART_LIMIT_BYTES + "the last words"
    world.drive()()
    assert world.read("console.txt").endswith(b"the last words")
    part = world.manifest()["parts"][-1]
    assert (part["bytes"], part["cut_from"]) == (PART_LIMIT_BYTES, PART_LIMIT_BYTES + 14)


class Mute(MemoryInstances):
    def console(self, instance_id: str) -> str:
        raise DependencyError(f"reading the console of {instance_id} failed: RequestLimitExceeded.")


def test_a_part_that_fails_is_noted_and_holds_up_nothing() -> None:
    world = World(Mute)
    report = world.drive()()
    assert report.status is RungStatus.DONE
    assert report.outcome["evidence_failed"] == [f"{FOLDER}/console.txt"]
    assert "RequestLimitExceeded" in world.manifest()["parts"][-1]["error"]


class Away(MemoryObjects):
    def put_if_absent(self, bucket: str, key: str, body: bytes) -> bool:
        raise DependencyError("writing failed: SlowDown.")


def test_an_evidence_bucket_that_is_away_holds_up_nothing() -> None:
    world = World()
    report = world.drive(Away(world.clock))()
    assert (report.status, report.outcome["evidence"]) == (RungStatus.DONE, "")
    assert len(report.outcome["evidence_failed"]) == 6


class Forgotten(MemoryInstances):
    def describe(self, instance_ids: Sequence[str]) -> dict[str, Instance]:
        return {}


def test_an_instance_that_ec2_forgot_is_said_to_be_so() -> None:
    world = World(Forgotten)
    world.drive()()
    assert json.loads(world.read("instance.json")) == {"state": "unknown to EC2"}
