import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.status.client import ask, status
from console.main import main
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import Kind
from tests.integration.agent.world import World

PATIENCE = 90


def eventually(condition: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the condition returns
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)
    return found


class Node:
    """An agent with a settings file, a status socket, and a manager that listens as systemd does."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.config = world.folder / "agent.toml"
        self.socket = str(world.folder / "s")
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.settimeout(PATIENCE)
        self.manager.bind(str(world.folder / "n"))

    def write(self, **settings: object) -> None:
        new = self.config.with_suffix(".new")
        new.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()))
        new.rename(self.config)

    def start(self, programs: Path | None = None, **settings: object) -> subprocess.Popen[str]:
        manager = {"NOTIFY_SOCKET": str(self.world.folder / "n"), "WATCHDOG_USEC": "20000000"}
        agent = self.world.start_agent(
            arguments=["--config", str(self.config)],
            environ=manager,
            programs=programs,
            under=(),
            STATUS_SOCKET=self.socket,
            **settings,
        )
        eventually(self.answers)
        return agent

    def answers(self) -> bool:
        try:
            return bool(status(self.socket))
        except DependencyError:
            return False

    def told(self, until: bytes) -> list[bytes]:
        said: list[bytes] = []
        while until not in (said[-1] if said else b""):
            said.append(self.manager.recv(4096))
        return said

    def kinds(self) -> list[Kind]:
        return [event.kind for envelope in self.world.in_kinesis() for event in envelope.events]

    def settings(self) -> dict[str, Any]:
        found: dict[str, Any] = status(self.socket)["settings"]
        return found

    def sources(self) -> dict[str, str]:
        return {source["name"]: source["state"] for source in status(self.socket)["sources"]}


@pytest.fixture
def node(world: World) -> Iterator[Node]:
    world.make_stream()
    node = Node(world)
    yield node
    node.manager.close()


def test_it_says_how_it_is_to_people_probes_and_systemd(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    node.write(heartbeat_seconds=5)
    agent = node.start()
    assert node.told(b"READY=1")
    assert node.told(b"WATCHDOG=1")
    report = eventually(
        lambda: (found := status(node.socket))["lanes"][0]["last_put_seconds_ago"] is not None and found
    )
    assert report["node"]["instance_id"] == "i-0123"
    assert report["spool"]["on_disk"]
    assert node.sources()["kernel_log"] == "running"
    assert ask(node.socket, "/healthz") == "ok\n"
    assert 'relight_agent_source_state{source="kernel_log",state="running"} 1' in ask(node.socket, "/metrics")
    assert main(["agent", "status", "--socket", node.socket]) == 0
    shown = capsys.readouterr().out
    assert "node-1 (i-0123" in shown
    assert "ok    kernel_log" in shown
    assert main(["agent", "status", "--socket", node.socket, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["healthy"] is True
    agent.terminate()
    assert agent.wait(90) == 0
    assert node.told(b"STOPPING=1")
    assert not Path(node.socket).exists()
    assert main(["agent", "status", "--socket", node.socket]) == 1
    assert "no agent answers" in capsys.readouterr().err


def test_a_file_that_changed_and_sighup_make_it_read_its_settings_again(node: Node) -> None:
    node.write(heartbeat_seconds=5)
    agent = node.start()
    assert "training_log" not in node.sources()
    node.write(heartbeat_seconds=5, training_logs=[str(node.world.folder / "rank*.log")])
    eventually(lambda: node.sources().get("training_log") == "running")
    assert node.settings()["live"] == ["training_logs"]
    # It has looked: what is written from now on is news.
    eventually(lambda: '"training_log"' in (node.world.folder / "spool" / "spool.journal").read_text())

    with (node.world.folder / "rank3.log").open("a") as log:
        log.write("[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
    eventually(lambda: Kind.TRAINING_OUT_OF_MEMORY in node.kinds())

    node.write(heartbeat_seconds=7, training_logs=[])
    agent.send_signal(signal.SIGHUP)
    eventually(lambda: node.settings().get("needs_restart") == ["heartbeat_seconds"])
    assert "training_log" not in node.sources()
    assert agent.poll() is None


def test_settings_that_are_not_right_leave_the_old_ones_and_say_why(node: Node) -> None:
    node.write(heartbeat_seconds=5, training_logs=[str(node.world.folder / "rank*.log")])
    agent = node.start()
    eventually(lambda: "training_log" in node.sources())
    node.write(heartbeat_second=5)
    refused = eventually(lambda: node.settings().get("refused"))
    assert "heartbeat_second" in refused
    assert "training_log" in node.sources()
    assert agent.poll() is None
    node.write(heartbeat_seconds=5)
    eventually(lambda: "training_log" not in node.sources())
    assert "refused" not in node.settings()


def test_a_fatal_fault_brings_evidence_to_s3_once(node: Node) -> None:
    bucket = "evidence-of-the-test"
    s3 = node.world.client("s3")
    s3.create_bucket(Bucket=bucket)
    programs = node.world.folder / "bin"
    programs.mkdir()
    (programs / "nvidia-smi").write_text("#!/bin/sh\necho what nvidia-smi says\n")
    (programs / "nvidia-smi").chmod(0o755)
    node.write(evidence_bucket=bucket, evidence_per_hour=4)
    node.start(programs=programs, EVIDENCE_PER_HOUR=4)
    node.world.break_gpus(1)

    def keys() -> list[str]:
        return [one["Key"] for one in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]

    manifest = eventually(lambda: next((key for key in keys() if key.endswith("/manifest.json")), None))
    assert manifest.startswith("nodes/i-0123/")
    told = json.loads(s3.get_object(Bucket=bucket, Key=manifest)["Body"].read())
    assert told["reason"].startswith("gpu.xid on ")
    folder = manifest.rpartition("/")[0]
    assert {f"{folder}/{name}" for name in ("kernel.log", "nvidia-smi.txt", "agent-events.jsonl", "node.txt")} <= set(
        keys()
    )
    log = s3.get_object(Bucket=bucket, Key=f"{folder}/kernel.log")["Body"].read()
    assert b"Xid (PCI:0000:00:00): 79" in log
    evidence = eventually(lambda: (found := status(node.socket)["evidence"])["not_uploaded"] == 0 and found)
    assert evidence["last"] == told["id"]
    with node.world.log.open("a") as file:
        file.write("3,900,900000,-;NVRM: GPU 0000:00:00.0: GPU has fallen off the bus.\n")
    eventually(lambda: sum(event.count for sent in node.world.in_kinesis() for event in sent.events) == 2)
    assert len([key for key in keys() if key.endswith("/manifest.json")]) == 1


def test_an_agent_that_may_not_listen_watches_all_the_same(node: Node) -> None:
    node.write(heartbeat_seconds=5)
    (node.world.folder / "file").touch()
    agent = node.world.start_agent(STATUS_SOCKET=node.world.folder / "file" / "s")
    node.world.break_gpus(1)
    eventually(lambda: [event for envelope in node.world.in_kinesis() for event in envelope.events])
    assert "no status endpoint" in [line["message"] for line in node.world.said()]
    assert agent.poll() is None


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="takes root, to give rights up, and setpriv"
)
def test_an_agent_without_rights_says_in_one_line_what_is_off_and_watches_the_rest(node: Node) -> None:
    node.world.start_agent(under=["setpriv", "--bounding-set=-all"], STATUS_SOCKET=node.socket)
    node.world.break_gpus(1)
    eventually(lambda: Kind.GPU_XID in node.kinds())
    off = [str(line["message"]) for line in node.world.said() if "off are" in str(line["message"])]
    assert len(off) == 1
    assert "other users' processes" in off[0]
    assert "CAP_SYS_PTRACE" in off[0]
    assert node.sources()["kernel_log"] == "running"
