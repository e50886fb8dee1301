"""Who reads the GPUs: the fake and NVML (our own library behind the real prober) tell the same of the same GPUs."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from agent.gpu.nvml.fake import MemoryGpus
from agent.gpu.nvml.reader import DriverHungError, GpuReader, NvmlRefusedError, ProbeReader
from agent.gpu.nvml.snapshot import DRIVER_NOT_LOADED, GPU_IS_LOST, Gpu, GpuEvent
from agent.prober.client import Prober
from tests.tools.nvml.gpus import gpu
from tests.tools.nvml.state import HEALTHY, XID, NvmlState, needs_compiler, pci_of, prober, uuid_of
from tests.tools.sources import eventually

GPUS = 2


class World(Protocol):
    """A reader, and what happens to its GPUs."""

    @property
    def reader(self) -> GpuReader: ...

    def lose(self, index: int) -> None: ...
    def count_ecc(self, index: int, errors: int) -> None: ...
    def tell_xid(self, index: int, xid: int) -> None: ...
    def refuse(self, code: int) -> None: ...
    def hang(self) -> None: ...
    def resting(self) -> AbstractContextManager[None]: ...


class Fake:
    def __init__(self) -> None:
        self.gpus = self.reader = MemoryGpus(*[healthy(index) for index in range(GPUS)])

    def _change(self, index: int, **changes: object) -> None:
        self.gpus.gpus[index] = replace(self.gpus.gpus[index], **changes)  # type: ignore[arg-type]

    def lose(self, index: int) -> None:
        gpu = self.gpus.gpus[index]
        self.gpus.gpus[index] = Gpu(index, gpu.uuid, gpu.pci, gpu.serial, gpu.name, error=GPU_IS_LOST)

    def count_ecc(self, index: int, errors: int) -> None:
        self._change(index, ecc_uncorrected=errors)

    def tell_xid(self, index: int, xid: int) -> None:
        self.gpus.tell(xid_event(index, xid))

    def refuse(self, code: int) -> None:
        self.gpus.refused = NvmlRefusedError(code, "refused")

    def hang(self) -> None:
        self.gpus.hung = 1.0

    @contextmanager
    def resting(self) -> Iterator[None]:
        self.gpus.resting = True
        yield
        self.gpus.resting = False


class Real:
    def __init__(self, child: Prober, state: NvmlState) -> None:
        self.reader, self.state = ProbeReader(child), state
        self.resting = child.resting

    def lose(self, index: int) -> None:
        self.state.gpu(index, error=GPU_IS_LOST)

    def count_ecc(self, index: int, errors: int) -> None:
        self.state.field(index, 4, errors)

    def tell_xid(self, index: int, xid: int) -> None:
        self.state.event(index, XID, xid)

    def refuse(self, code: int) -> None:
        self.state.library(init=code)

    def hang(self) -> None:
        self.state.library(hang="nvmlDeviceGetCount_v2")


def healthy(index: int) -> Gpu:
    """Return one as a whole look tells it: what only informs is there as well."""
    return gpu(index, {"rows_remapped": 0, "slowdown_temperature": 89}, name=HEALTHY["name"])


def xid_event(index: int, xid: int) -> GpuEvent:
    return GpuEvent(XID, xid, pci_of(index), index, uuid_of(index), f"165{index:07d}")


@pytest.fixture(params=["fake", pytest.param("nvml", marks=needs_compiler)])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    if request.param == "fake":
        yield Fake()
        return
    state = NvmlState(tmp_path / "state", GPUS)
    with prober(state) as child:
        yield Real(child, state)


def test_a_close_look_tells_everything_of_every_gpu(world: World) -> None:
    look = world.reader.look(closely=True)
    assert look.gpus == tuple(healthy(index) for index in range(GPUS))
    assert look.driver == "570.148.08"
    assert (look.events_off, look.resting) == ("", False)


def test_a_short_look_leaves_the_details_out(world: World) -> None:
    assert world.reader.look(closely=False).gpus == tuple(replace(healthy(index), detail=None) for index in range(GPUS))


def test_a_lost_gpu_is_still_known_by_name(world: World) -> None:
    world.reader.look(closely=True)
    world.lose(1)
    well, lost = world.reader.look(closely=True).gpus
    assert well == healthy(0)
    assert (lost.error, lost.pci, lost.uuid, lost.serial) == (GPU_IS_LOST, pci_of(1), uuid_of(1), "1650000001")
    assert (lost.ecc_uncorrected, lost.reasons, lost.detail) == (None, None, None)


def test_counters_are_read_anew(world: World) -> None:
    world.reader.look(closely=False)
    world.count_ecc(0, 5_000_000_000)
    assert [gpu.ecc_uncorrected for gpu in world.reader.look(closely=False).gpus] == [5_000_000_000, 0]


def test_events_come_once_and_in_order(world: World) -> None:
    world.reader.look(closely=False)
    world.tell_xid(1, 79)
    world.tell_xid(0, 31)
    told: list[GpuEvent] = []

    def all_told() -> bool:
        told.extend(world.reader.events())
        return len(told) == 2

    eventually(all_told)
    assert told == [xid_event(1, 79), xid_event(0, 31)]
    assert world.reader.events() == []


def test_a_driver_that_is_not_loaded_is_told_by_its_code(world: World) -> None:
    world.refuse(DRIVER_NOT_LOADED)
    with pytest.raises(NvmlRefusedError) as caught:
        world.reader.look(closely=False)
    assert caught.value.code == DRIVER_NOT_LOADED


def test_a_call_that_does_not_return_is_told_with_its_beginning(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.reader.look(closely=False)
    monkeypatch.setattr("agent.gpu.nvml.reader.LOOK_SECONDS", 0.2)
    world.hang()
    with pytest.raises(DriverHungError) as first:
        world.reader.look(closely=False)
    with pytest.raises(DriverHungError) as again:
        world.reader.look(closely=True)
    assert first.value.since == again.value.since > 0


def test_while_a_gpu_is_reset_nothing_is_read_and_nothing_fails(world: World) -> None:
    world.reader.look(closely=False)
    with world.resting():
        look = world.reader.look(closely=True)
        assert (look.resting, look.gpus) == (True, ())
