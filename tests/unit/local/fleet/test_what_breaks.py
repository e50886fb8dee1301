"""What a simulated node shows when something breaks, read by the agent's own readers."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.fabric.devices import efa_functions, read_devices
from agent.job.beat import Phase
from agent.job.beat_files import read_beats
from agent.job.cgroups.oom import OomPoll
from agent.job.matching import Matcher
from agent.polls.reading import Happened, Instant
from local.fleet import cgroups, efa
from local.fleet.gang import Member
from local.fleet.kernel_log import KernelLog
from local.fleet.machines import Machine, MachineRoom
from local.fleet.ranks import Ranks
from tests.tools.envelopes import NOW
from tests.tools.sources import eventually

POD = "6f2c1d0e-8d1e-4c6b-9a52-3f1f0f9f8a11"
MEMBER = Member("run-worker-0", POD, "n0", 1)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine("i-1", "n0", "p5.48xlarge", "us-east-1a", "10.0.0.1", tmp_path, "boot", KernelLog(tmp_path / "kmsg"))


@pytest.fixture
def ranks(machine: Machine) -> Iterator[Ranks]:
    room = MachineRoom()
    room.add(machine)
    ranks = Ranks(room, {"job": "train/llm", "orchestrator": "eks"})
    ranks.follow([MEMBER])
    yield ranks
    ranks.close()


def test_a_rank_beats_as_the_agent_reads_it_and_is_found_among_the_nodes_processes(
    machine: Machine, ranks: Ranks
) -> None:
    eventually(lambda: bool(read_beats(machine.beats)))
    ranks.beat(7, Phase.TRAIN)
    eventually(lambda: read_beats(machine.beats)[0].beat.beats == 1)
    [matched] = Matcher(machine.procfs).match(read_beats(machine.beats), 0.0)
    assert matched.process is not None
    assert matched.process.is_alive
    beat = matched.beat
    assert (beat.step, beat.phase, beat.rank, beat.job, beat.pod) == (7, Phase.TRAIN, 8, "train/llm", MEMBER.name)


def test_a_rank_that_is_stopped_or_killed_holds_its_peers_up_until_its_pod_is_another(ranks: Ranks) -> None:
    assert not ranks.is_stuck(MEMBER)
    ranks.stop("n0")
    eventually(lambda: ranks.is_stuck(MEMBER))
    again = Member(MEMBER.name, "2b" + POD[2:], "n0", 1)
    ranks.follow([again])
    assert not ranks.is_stuck(MEMBER)
    ranks.kill("n0")
    eventually(lambda: ranks.is_stuck(again))


def test_no_rank_outlives_its_pod(machine: Machine, ranks: Ranks) -> None:
    rank = ranks.of_node("n0")
    assert rank is not None
    ranks.stop("n0")
    ranks.follow([])
    with pytest.raises(ProcessLookupError):
        os.kill(rank.process.pid, signal.SIGCONT)
    assert list(machine.beats.iterdir()) == []
    assert not rank.link.is_symlink()


def test_a_kill_for_want_of_memory_is_counted_as_the_kernel_counts_it(machine: Machine) -> None:
    cgroups.mount(machine.sysfs)
    poll, memory = OomPoll(machine.sysfs), dict[str, object]()
    assert list(poll.measure(memory, Instant(NOW, 1.0))) == []
    cgroups.make(machine.sysfs, POD)
    assert list(poll.measure(memory, Instant(NOW, 3.0))) == []
    cgroups.kill(machine.sysfs, POD)
    [reading] = poll.measure(memory, Instant(NOW, 5.0))
    assert isinstance(reading, Happened)
    told = reading.sighting.attributes
    assert (told["by"], told["pod_uid"], told["limit_bytes"]) == ("limit", POD, cgroups.LIMIT_BYTES)
    assert list(poll.measure(memory, Instant(NOW, 7.0))) == []


def test_an_efa_device_that_vanishes_is_gone_from_class_and_bus(machine: Machine) -> None:
    efa.make(machine.sysfs)
    assert {device.is_efa for device in read_devices(machine.sysfs)} == {True}
    assert len(read_devices(machine.sysfs)) == len(efa_functions(machine.sysfs)) == len(efa.BUSES)
    efa.lose(machine.sysfs, efa.BUSES[0])
    assert {device.name for device in read_devices(machine.sysfs)} == {efa.name_of(bus) for bus in efa.BUSES[1:]}
    assert len(efa_functions(machine.sysfs)) == len(efa.BUSES) - 1
