"""A real agent and a real process that beats: an Xid, a full cgroup, a hang and a death, each with its job."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from policies.contract.events import FaultEvent
from policies.contract.vocabulary import Kind, Orchestrator
from tests.integration.agent.world import World
from tests.tools.cgroups import cgroup, kill

RANK = """if True:
    import json, os, struct, sys, time
    data = bytearray(4096)
    told = {"pid": os.getpid(), "pid_namespace": os.stat("/proc/self/ns/pid").st_ino, "rank": 3, "pod": "llama-3"}
    header = json.dumps({**told, "job": "ml/llama", "orchestrator": "eks", "checkpoint": "s3://b/p"}).encode()
    data[512:512 + len(header)] = header
    step = 0
    while True:
        step += 1
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        struct.pack_into("<8sI4xQQqI", data, 0, b"RLBEAT01", len(header), step, now, step, 3)
        with open(sys.argv[1], "r+b" if step > 1 else "wb") as file:
            file.write(data)
        time.sleep(0.02)
"""
Eventually = Callable[[Callable[[], bool]], None]


@pytest.fixture
def rank(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    (tmp_path / "beats").mkdir()
    with subprocess.Popen([sys.executable, "-c", RANK, str(tmp_path / "beats" / "rank3.beat")]) as one:
        yield one
        one.kill()


def test_every_event_of_a_node_names_the_job_that_runs_there(
    world: World, rank: "subprocess.Popen[bytes]", eventually: Eventually
) -> None:
    world.make_stream()
    sysfs, container = world.folder / "sys", "kubepods.slice/cri-containerd-" + "3f" * 32 + ".scope"
    cgroup(sysfs, container, limit=1 << 30)
    world.start_agent(
        BEATS=world.folder / "beats",
        HANG_AFTER_SECONDS=3,
        SYSFS=sysfs,
        CONTAINER_RUNTIME_SOCKET="",
        KUBELET_HEALTH="",
    )

    def seen(kind: Kind, *, again: Callable[[], None] = lambda: None) -> FaultEvent:
        found: list[FaultEvent] = []

        def there() -> bool:
            again()
            told = [event for envelope in world.in_kinesis() for event in envelope.events]
            found[:] = [event for event in told if event.kind is kind]
            return bool(found)

        eventually(there)
        return found[0]

    with world.log.open("a") as log:
        log.write(f"3,1,1000,-;NVRM: Xid (PCI:0000:4b:00): 13, pid={rank.pid}, name=python, Graphics Exception\n")
    xid = seen(Kind.GPU_XID)
    # Again and again: what was killed before the agent's first look is old.
    killed = seen(Kind.CONTAINER_OOM_KILL, again=partial(kill, sysfs, container, limited=container))
    rank.send_signal(signal.SIGSTOP)
    stalled = seen(Kind.TRAINING_STALLED)
    rank.kill()
    died = seen(Kind.PROCESS_EXITED)

    for event in (xid, killed, stalled, died):
        assert event.job
        assert (event.job.id, event.job.orchestrator) == ("ml/llama", Orchestrator.EKS)
        assert event.job.checkpoint == "s3://b/p"
        assert (event.job.step or 0) > 0
        assert event.attributes["pod"] == "llama-3"
        assert event.job.rank == 3
    assert stalled.attributes["state"] == "T"
    assert died.attributes.get("signal", "SIGKILL" if os.geteuid() else None) == "SIGKILL"
