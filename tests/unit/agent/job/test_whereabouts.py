import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.coalesce import Seen
from agent.events import EventMaker
from agent.job.table import REMEMBERED_SECONDS, ProcessTable
from agent.job.whereabouts import Whereabouts
from agent.parsers.sighting import Sighting
from policies.contract.events import Component, JobRef, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Orchestrator, Severity, Source
from tests.tools.agent_events import START
from tests.tools.beats import beat, process
from tests.tools.sources import NODE

ID = "3f" * 32
GPUS = ("0000:53:00", "0000:64:00")


class World:
    """A made-up node."""

    def __init__(self, folder: Path) -> None:
        self.beats, self.proc, self.ticks, self.job = folder / "beats", folder / "proc", 1000.0, None
        self.told: JobRef | None = None
        self.table = ProcessTable(self.beats, self.proc, lambda: self.ticks, host_name="node-1")
        self.where = Whereabouts(lambda: self.told, self.table, self.proc)
        process(self.proc, 1, name="init")

    def gpus(self) -> None:
        for minor, pci in enumerate(reversed(GPUS)):  # the minor numbers are in another order than the addresses
            folder = self.proc / "driver/nvidia/gpus" / f"{pci}.0"
            folder.mkdir(parents=True)
            (folder / "information").write_text(
                f"Model: \t\t NVIDIA H100\nGPU UUID: \t GPU-{minor:08d}-0000-0000-0000-000000000000\n"
                f"Bus Location: \t {pci}.0\nDevice Minor: \t {minor}\n"
            )

    def beat(self, pid: int, **more: Any) -> None:  # noqa: ANN401
        fields: dict[str, Any] = {"job": "ml/llama", "rank": pid, "step": pid, "at": self.ticks, "orchestrator": "eks"}
        beat(self.beats, str(pid), pid=pid, **{**fields, **more})

    def find(self, component: Component | None = None, **attributes: Scalar) -> JobRef | None:
        self.ticks += 20
        return self.where(seen(attributes, component))


def seen(attributes: Mapping[str, Scalar], component: Component | None = None) -> Seen:
    sighting = Sighting(Kind.GPU_XID, Severity.ERROR, component, attributes)
    return Seen(sighting, "c", 1, START, "m")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_an_idle_node_has_no_job(world: World) -> None:
    assert world.find() is None
    assert world.find(pid=77) is None


def test_an_event_of_a_process_has_its_rank_step_and_job(world: World) -> None:
    for pid in (10, 11):
        process(world.proc, pid)
        world.beat(pid, checkpoint="s3://b/p")
    assert world.find(pid=11) == JobRef(
        id="ml/llama", orchestrator=Orchestrator.EKS, rank=11, step=11, checkpoint="s3://b/p"
    )


def test_a_worker_that_loads_data_belongs_to_its_parent(world: World) -> None:
    process(world.proc, 10)
    world.beat(10)
    folder = process(world.proc, 12)
    (folder / "stat").write_text((folder / "stat").read_text().replace("R 1 ", "R 10 "))
    found = world.find(pid=12)
    assert found
    assert found.rank == 10


def test_what_concerns_the_node_has_the_job_and_its_newest_step(world: World) -> None:
    for pid in (10, 11):
        process(world.proc, pid)
        world.beat(pid)
    assert world.find() == JobRef(id="ml/llama", orchestrator=Orchestrator.EKS, step=11)


def test_the_job_file_wins_and_beats_say_where_it_is(world: World) -> None:
    world.told = JobRef(id="training/mine", orchestrator=Orchestrator.SLURM, rank=0, step=1, checkpoint="s3://x/y")
    process(world.proc, 10)
    world.beat(10, checkpoint="s3://b/p")
    assert world.find(pid=10) == world.told.model_copy(update={"rank": 10, "step": 10})
    assert world.find() == world.told.model_copy(update={"step": 10})


def test_without_beats_the_environment_of_who_holds_a_gpu_tells(world: World) -> None:
    world.gpus()
    process(world.proc, 10, environ="SLURM_JOB_ID=12 SLURM_PROCID=5", files=("/dev/nvidia0",))
    process(world.proc, 11, name="nvidia-smi", environ="SLURM_JOB_ID=13", files=("/dev/nvidia0",))
    assert world.find() == JobRef(id="12", orchestrator=Orchestrator.SLURM, rank=5)


def test_a_beat_wins_over_the_environment(world: World) -> None:
    process(world.proc, 10, environ="SLURM_JOB_ID=12 SLURM_PROCID=5")
    world.beat(10, rank=6)
    found = world.find(pid=10)
    assert found
    assert (found.id, found.rank) == ("ml/llama", 6)


def test_every_event_says_how_many_ranks_its_run_has_as_far_as_a_beat_or_an_environment_does(world: World) -> None:
    world.gpus()
    process(world.proc, 10, environ="SLURM_JOB_ID=12 SLURM_PROCID=5 WORLD_SIZE=64", files=("/dev/nvidia0",))
    assert [one and one.world_size for one in (world.find(), world.find(pid=10), world.find(pid=99))] == [64, 64, 64]
    world.beat(10, world_size=128)
    assert [one and one.world_size for one in (world.find(), world.find(pid=10))] == [128, 128]
    world.told = JobRef(id="training/mine")
    assert [one and one.world_size for one in (world.find(), world.find(pid=10), world.where.node_job())] == [128] * 3
    world.told = JobRef(id="training/mine", world_size=32)
    assert [one and one.world_size for one in (world.find(), world.find(pid=10), world.where.node_job())] == [32] * 3


def test_what_a_launcher_s_environment_counts_is_no_size(world: World) -> None:
    process(world.proc, 10, environ="SLURM_JOB_ID=12 SLURM_NTASKS=8")
    world.beat(10)
    assert [one and one.world_size for one in (world.find(), world.find(pid=10))] == [None, None]


@pytest.mark.parametrize("known", ["pci", "uuid"])
def test_an_event_of_a_gpu_has_the_rank_of_who_holds_it(world: World, known: str) -> None:
    world.gpus()
    for pid, minor in ((10, 0), (11, 1)):
        process(world.proc, pid, files=(f"/dev/nvidia{minor}", "/dev/nvidiactl", "/dev/null"))
        world.beat(pid)
    gpu = {"pci": GPUS[0]} if known == "pci" else {"uuid": "GPU-00000001-0000-0000-0000-000000000000"}
    found = world.find(Component(type=ComponentType.GPU, **gpu))  # type: ignore[arg-type]
    assert found
    assert found.rank == 11


def test_where_all_hold_all_gpus_the_local_rank_is_the_place(world: World) -> None:
    world.gpus()
    for pid in (10, 11):
        process(world.proc, pid, files=("/dev/nvidia0", "/dev/nvidia1"))
        world.beat(pid, local_rank=pid - 10)
    found = [world.find(Component(type=ComponentType.GPU, pci=pci)) for pci in GPUS]
    assert [one and one.rank for one in found] == [10, 11]


def test_a_gpu_that_nobody_holds_alone_names_the_job_and_no_rank(world: World) -> None:
    world.gpus()
    for pid in (10, 11):
        process(world.proc, pid, files=("/dev/nvidia0", "/dev/nvidia1"))
        world.beat(pid)
    found = world.find(Component(type=ComponentType.GPU, pci=GPUS[0]))
    assert found
    assert (found.id, found.rank) == ("ml/llama", None)


def test_an_event_of_a_container_has_the_rank_that_runs_in_it(world: World) -> None:
    for pid, name in ((10, ID), (11, "4e" * 32)):
        process(world.proc, pid, cgroup=f"0::/kubepods.slice/cri-containerd-{name}.scope")
        world.beat(pid)
    found = world.find(container=ID)
    assert found
    assert found.rank == 10


def test_of_several_jobs_the_one_with_the_most_processes_counts(world: World) -> None:
    for pid, job in ((10, "a"), (11, "b"), (12, "b")):
        process(world.proc, pid)
        world.beat(pid, job=job)
    found = world.find()
    assert found
    assert (found.id, found.step) == ("b", 12)


def test_a_crash_is_told_after_it_and_still_has_its_rank(world: World) -> None:
    process(world.proc, 10)
    world.beat(10)
    world.table.now()
    (world.proc / "10" / "stat").unlink()
    for _ in range(3):
        found = world.find(pid=10)
        assert found
        assert found.rank == 10
        assert world.find() is not None
    world.ticks += REMEMBERED_SECONDS
    world.table.now()
    assert world.find() is None


def test_a_stale_file_of_a_run_that_is_long_over_names_no_job(world: World) -> None:
    world.beat(10)
    assert world.find() is None


def test_the_pod_stands_in_the_attributes(world: World) -> None:
    process(world.proc, 10)
    world.beat(10, pod="llama-worker-2")
    world.table.now()
    maker = EventMaker(NODE, Source.KERNEL_LOG, world.where, world.where.pod)
    event = maker.event(seen({"pid": 10}))
    assert event.attributes == {"pid": 10, "pod": "llama-worker-2"}
    assert maker.event(seen({})).attributes == {"pod": "llama-worker-2"}
    assert maker.event(seen({"pid": 99})).attributes == {"pid": 99}
    assert maker.event(seen({"pod": "other"})).attributes == {"pod": "other"}


def test_the_environment_tells_a_pod_unless_it_runs_on_the_host_s_network(world: World) -> None:
    world.gpus()
    for pid, name in ((10, "llama-worker-0"), (11, "node-1")):
        environ = f"KUBERNETES_SERVICE_HOST=10.0.0.1 HOSTNAME={name} RANK={pid}"
        process(world.proc, pid, environ=environ, files=("/dev/nvidia0",))
    world.table.now()
    assert [world.where.pod(seen({"pid": pid})) for pid in (10, 11)] == ["llama-worker-0", ""]


def test_an_event_waits_for_no_look(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    process(world.proc, 10)
    world.beat(10)
    world.table.now()
    assert world.table._lock.acquire()
    world.ticks += 100
    assert world.where(seen({"pid": 10})) is not None


@given(st.one_of(st.integers(), st.text(max_size=20), st.booleans()), st.text(max_size=70))
def test_nothing_that_an_event_says_raises(pid: Scalar, name: str) -> None:
    table = ProcessTable(Path("/dev/null"), Path("/proc"), lambda: 1.0)
    find: Callable[[Seen], JobRef | None] = Whereabouts(lambda: None, table, Path("/proc"))
    find(seen({"pid": pid, "container": name, "pod_uid": name}))


def test_ten_thousand_events_a_second_are_found_in_no_time(world: World) -> None:
    for pid in range(10, 18):
        process(world.proc, pid)
        world.beat(pid)
    world.table.now()
    before = os.times()
    for _ in range(2000):
        world.where(seen({"pid": 12}))
        world.where(seen({}))
    after = os.times()
    assert after.user + after.system - before.user - before.system < 2
