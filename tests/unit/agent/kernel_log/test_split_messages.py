"""A message of several records, through the whole source: one event, also when the agent stops in its middle."""

import time
from pathlib import Path

from tests.tools.sources import eventually, waiting
from tests.unit.agent.kernel_log.test_source import Station, xid

LOST = (
    "3,1,1000000,-;NVRM: The NVIDIA GPU 0000:b3:00.0",
    "3,2,1000002,-;NVRM: (PCI ID: 10de:26b5) installed in this system has",
    "3,3,1000004,-;NVRM: fallen off the bus and is not responding to commands.",
)
KILL = (
    "6,4,2000000,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,task=python,pid=36,uid=0",
    "3,5,2000003,-;Memory cgroup out of memory: Killed process 36 (python) total-vm:1kB, anon-rss:1kB",
)


def test_a_lost_gpu_told_in_three_records_is_one_event_that_names_it(tmp_path: Path) -> None:
    station = Station(tmp_path)
    with station.running() as spool:
        station.write(*LOST, xid(2, code=48))
        eventually(lambda: spool.waiting == 2)
        lost, after = waiting(spool)
    assert (lost["kind"], lost["component"]["pci"]) == ("gpu.lost", "0000:b3:00")
    assert lost["message"].count("\n") == 2
    assert after["attributes"]["xid"] == 48


def test_two_lines_about_one_kill_are_one_kill(tmp_path: Path) -> None:
    station = Station(tmp_path)
    with station.running() as spool:
        station.write(*KILL, xid(3))
        eventually(lambda: spool.waiting == 2)
        time.sleep(0.3)  # a second one would be told by now
        killed, _ = waiting(spool)
    with station.running() as spool:
        told = waiting(spool)
    assert (killed["kind"], killed["attributes"]["pid"], killed.get("count", 1)) == ("container.oom_kill", 36, 1)
    assert [event["kind"] for event in told] == ["container.oom_kill", "gpu.xid"]


def test_a_stop_between_two_pieces_loses_neither(tmp_path: Path) -> None:
    station = Station(tmp_path)
    with station.running() as spool:
        station.write(xid(0.5), LOST[0])
        eventually(lambda: spool.waiting == 1)
    station.write(*LOST[1:])
    with station.running() as spool:
        eventually(lambda: len(waiting(spool)) >= 2)
        told = waiting(spool)
    assert [event["kind"] for event in told] == ["gpu.xid", "gpu.lost"]
    assert told[1]["component"].get("pci") in {"0000:b3:00", None}  # None if the stop came after the hold
