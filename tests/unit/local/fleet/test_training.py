"""The job's life, tick by tick."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from local.fleet.checkpoints import MemoryCheckpoints, get_json
from local.fleet.gang import Member
from local.fleet.resuming import POINTER, PROGRESS, RESUME_FROM, starting_step, step_of, steps_with_metadata
from local.fleet.training import Pace, Tear, Training
from policies.checkpoints.dcp_metadata import required_lengths

SIZE = 2
START = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


@dataclass
class FakeGang:
    generation: int = 0
    whole: bool = True
    annotations: dict[str, str] = field(default_factory=dict)
    crashes: list[str] = field(default_factory=list)
    size: int = SIZE

    def members(self) -> Sequence[Member]:
        if not self.whole:
            return ()
        return tuple(Member(f"p{n}", f"{self.generation}-{n}", f"n{n}", n, self.annotations) for n in range(SIZE))

    def crash(self, member: Member, exit_code: int) -> None:
        self.crashes.append(f"{member.name}: {exit_code}")
        self.generation += 1

    def restart(self) -> None:
        self.generation += 1


class World:
    def __init__(self, tear: Tear = Tear.NO_METADATA, keep: int = 100) -> None:
        self.now = START
        self.gang = FakeGang()
        self.store = MemoryCheckpoints()
        self.broken: set[str] = set()
        self.training = Training(
            self.gang,
            self.store,
            is_broken=lambda node: node in self.broken,
            now=lambda: self.now,
            pace=Pace(checkpoint_every=10, keep=keep),
            tear=tear,
        )

    def run(self, ticks: int) -> None:
        for _ in range(ticks):
            self.training.tick()
            self.now += timedelta(seconds=1)

    def run_to_step(self, step: int) -> None:
        for _ in range(1000):
            if self.training.step >= step and self.training.saving is None:
                return
            self.run(1)
        raise AssertionError(f"step {step} was never reached")

    def run_into_save(self, step: int) -> None:
        while not (
            self.training.saving and self.training.saving.checkpoint.step == step and self.training.saving.written
        ):
            self.run(1)


def test_a_job_steps_and_saves_whole_checkpoints() -> None:
    world = World()
    world.run_to_step(25)
    assert list(world.training.record.saved) == [10, 20]
    sizes = world.store.sizes()
    for step in (10, 20):
        metadata = world.store.get(f"step-{step}/.metadata")
        assert metadata is not None
        assert {name: sizes[f"step-{step}/{name}"] for name in required_lengths(metadata)} == required_lengths(metadata)
    assert get_json(world.store, PROGRESS) == {"step": 25, "resumed_from": 0, "at": "2026-01-31T12:00:30.000000Z"}


def test_a_broken_gpu_stalls_the_job_and_leaves_the_save_torn() -> None:
    world = World()
    world.run_into_save(20)
    world.broken.add("n1")
    world.run(50)
    assert world.training.is_stalled
    assert world.training.step == 20
    assert steps_with_metadata(world.store.sizes()) == [10]
    assert "step-20/__0_0.distcp" in world.store.sizes()


def test_a_mirrored_torn_save_has_metadata_and_a_short_shard() -> None:
    world = World(Tear.SHORT_SHARD)
    world.run_into_save(20)
    world.broken.add("n1")
    world.run(2)
    metadata = world.store.get("step-20/.metadata")
    assert metadata is not None
    short = [name for name, size in required_lengths(metadata).items() if world.store.sizes()[f"step-20/{name}"] < size]
    assert short == ["__8_0.distcp"]


def test_a_job_that_is_not_whole_does_not_step() -> None:
    world = World()
    world.run(5)
    world.gang.whole = False
    world.run(5)
    assert world.training.step == 5
    assert not world.training.is_running


def test_a_job_goes_on_from_the_step_its_annotation_names() -> None:
    world = World()
    world.run_into_save(30)
    world.broken.add("n1")
    world.run(1)
    world.gang.annotations = {RESUME_FROM: "s3://bucket/prefix/step-20"}
    world.gang.restart()
    world.broken.clear()
    world.run(1)
    assert world.training.record.starts == [(0, START), (20, world.now - timedelta(seconds=1))]
    assert world.training.step == 21
    assert get_json(world.store, PROGRESS) == {
        "step": 21,
        "resumed_from": 20,
        "at": (world.now - timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }
    world.run_to_step(30)
    assert steps_with_metadata(world.store.sizes()) == [10, 20, 30]


def test_a_job_told_to_load_a_torn_step_crashes() -> None:
    world = World(Tear.SHORT_SHARD)
    world.run_into_save(20)
    world.broken.add("n1")
    world.run(1)
    world.broken.clear()
    world.gang.annotations = {RESUME_FROM: "s3://bucket/prefix/step-20"}
    world.gang.restart()
    world.run(1)
    assert world.gang.crashes == ["p0: 1"]
    assert not world.training.is_running


def write_pointer(store: MemoryCheckpoints, step: int, time: datetime) -> None:
    store.put(POINTER, json.dumps({"step": step, "path": f"s3://b/p/step-{step}", "time": time.isoformat()}).encode())


def test_the_pointer_object_counts_until_a_newer_step_is_saved() -> None:
    store = MemoryCheckpoints()
    for step in (10, 20):
        store.put(f"step-{step}/.metadata", b"x")
    assert starting_step(store, {}, {}) == 20
    write_pointer(store, 10, START)
    assert starting_step(store, {}, {20: START - timedelta(seconds=1)}) == 10
    assert starting_step(store, {}, {20: START + timedelta(seconds=1)}) == 20
    store.put(POINTER, b"{")
    assert starting_step(store, {}, {}) == 20
    assert starting_step(MemoryCheckpoints(), {}, {}) == 0


@pytest.mark.parametrize(
    ("path", "step"), [("s3://b/p/step-40/", 40), ("step-7", 7), ("s3://b/step-1/x", None), ("", None)]
)
def test_a_path_names_its_step(path: str, step: int | None) -> None:
    assert step_of(path) == step


def test_a_run_keeps_its_newest_checkpoints_whole_and_deletes_the_others() -> None:
    world = World(keep=3)
    world.run(100)
    saved = sorted(world.training.record.saved)
    assert len(saved) > 4
    whole = steps_with_metadata(world.store.sizes())
    assert whole == saved[-3:]
    assert {step_of(name.split("/")[0]) for name in world.store.files if name != PROGRESS} >= set(whole)
    assert not any(name.startswith(f"step-{saved[0]}/") for name in world.store.files)
