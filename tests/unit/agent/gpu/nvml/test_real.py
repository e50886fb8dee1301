"""NVML behind the prober, in what only a real library has: parts without something, drivers that come and go, hangs."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.gpu.nvml.poll import NvmlPoll
from agent.gpu.nvml.reader import DriverHungError, NvmlRefusedError, ProbeReader
from agent.gpu.nvml.snapshot import (
    GPU_IS_LOST,
    LIB_RM_VERSION_MISMATCH,
    RESET_REQUIRED,
    UNINITIALIZED,
    UNKNOWN,
    Detail,
    GpuEvent,
    Look,
)
from agent.prober.client import Prober
from agent.xid_ledger import XidLedger
from tests.tools.nvml.gpus import P5
from tests.tools.nvml.state import HEALTHY, NvmlState, built, compile_to, needs_compiler, pci_of, prober
from tests.tools.polling import bench
from tests.tools.sources import eventually

pytestmark = needs_compiler
GPUS = 2


@pytest.fixture
def state(tmp_path: Path) -> NvmlState:
    return NvmlState(tmp_path / "state", GPUS)


@pytest.fixture
def child(state: NvmlState) -> Iterator[Prober]:
    with prober(state) as made:
        yield made


@pytest.fixture
def reader(child: Prober) -> ProbeReader:
    return ProbeReader(child)


def detail_of(reader: ProbeReader, index: int = 0) -> Detail:
    detail = reader.look(closely=True).gpus[index].detail
    assert detail is not None
    return detail


def first_events(reader: ProbeReader) -> list[GpuEvent]:
    told: list[GpuEvent] = []

    def any_told() -> bool:
        told.extend(reader.events())
        return bool(told)

    eventually(any_told)
    return told


def test_a_part_that_has_nothing_says_nothing(state: NvmlState, reader: ProbeReader) -> None:
    state.every(**dict.fromkeys(HEALTHY))
    [gpu, _] = reader.look(closely=True).gpus
    assert gpu.error is None
    assert gpu.detail == Detail()
    assert (gpu.reasons, gpu.ecc_uncorrected, gpu.remap_failed, gpu.recovery_action) == (None, None, None, None)


def test_links_of_an_a100_are_asked_one_by_one(state: NvmlState, reader: ProbeReader) -> None:
    per_link = {f"field.{field}.{link}": None for field in (161, 162, 163) for link in range(18)}
    state.every(**per_link, **{f"link.{link}": None for link in range(12, 18)}, state_by_call="1")
    state.every(**{f"counter.{link}.{counter}": "0" for link in range(12) for counter in (0, 1, 2)})
    state.gpu(0, **{"counter.7.1": "3"})
    state.link(0, 11, 0)
    links = detail_of(reader).links
    assert len(links) == 12
    assert (links[7].recoveries, links[7].replays, links[7].active) == (3, 0, True)
    assert links[11].active is False


def test_links_of_blackwell_count_failed_recoveries(state: NvmlState, reader: ProbeReader) -> None:
    state.every(**{f"field.{field}.{link}": None for field in (161, 162, 163) for link in range(18)})
    state.every(**{f"field.214.{link}": "0" for link in range(18)})
    state.field(0, 214, 2, link=5)
    link = detail_of(reader).links[5]
    assert (link.failed_recoveries, link.replays, link.active) == (2, None, True)


def test_counters_that_a_link_tells_only_once_it_is_up_are_found_then(state: NvmlState, reader: ProbeReader) -> None:
    state.link(0, 4, 0)
    state.field(0, 162, "-", link=4)
    assert detail_of(reader).links[4].recoveries is None
    state.link(0, 4, 1)
    state.field(0, 162, 3, link=4)
    assert detail_of(reader).links[4].recoveries == 3


def test_a_link_that_goes_down_is_seen(state: NvmlState, reader: ProbeReader) -> None:
    assert all(link.active for link in detail_of(reader).links)
    state.link(0, 9, 0)
    assert [link.number for link in detail_of(reader).links if link.active is False] == [9]


def test_a_gpu_in_mig_mode(state: NvmlState, reader: ProbeReader) -> None:
    state.gpu(0, mig=1, mig_most=7, mig_instances=3, busy="-")
    state.gpu(0, **{f"link.{link}": "-" for link in range(18)})
    gpu, other = reader.look(closely=True).gpus
    assert (gpu.mig, other.mig) == (True, False)
    assert gpu.detail is not None
    assert (gpu.detail.mig_instances, gpu.detail.links, gpu.detail.busy) == (3, (), None)
    assert reader.look(closely=False).gpus[0].mig


def test_an_xid_of_a_mig_instance_names_it(state: NvmlState, reader: ProbeReader) -> None:
    state.gpu(1, mig=1)
    reader.look(closely=True)
    state.event(1, 0x8, 94, (5, 0))
    told = first_events(reader)
    assert (told[0].data, told[0].pci, told[0].gpu_instance, told[0].compute_instance) == (94, pci_of(1), 5, 0)


def test_a_negative_margin_and_large_counters(state: NvmlState, reader: ProbeReader) -> None:
    state.gpu(0, margin=-4)
    state.field(0, 6, 2**40)
    detail = detail_of(reader)
    assert (detail.margin, detail.slowdown_margin, detail.ecc_uncorrected_ever) == (-4, -2, 2**40)


@pytest.mark.parametrize("code", [GPU_IS_LOST, RESET_REQUIRED])
def test_a_gpu_that_is_gone_at_the_first_look_costs_no_other(state: NvmlState, reader: ProbeReader, code: int) -> None:
    state.gpu(0, error=code)
    lost, other = reader.look(closely=True).gpus
    assert (lost.index, lost.error) == (0, code)
    assert other.error is None
    assert other.detail is not None


def test_a_gpu_that_cannot_be_opened_costs_no_other(state: NvmlState, reader: ProbeReader) -> None:
    state.gpu(1, handle_error=UNKNOWN)
    gpus = reader.look(closely=False).gpus
    assert [gpu.error for gpu in gpus] == [None, UNKNOWN]


def test_a_driver_that_went_away_is_begun_again(state: NvmlState, reader: ProbeReader) -> None:
    assert len(reader.look(closely=True).gpus) == GPUS
    state.library(ended=UNINITIALIZED)
    with pytest.raises(NvmlRefusedError):
        reader.look(closely=True)
    state.library(ended=None)
    eventually(lambda: answers(reader))


def test_a_session_that_ended_under_a_gpu_is_not_a_broken_gpu(state: NvmlState, reader: ProbeReader) -> None:
    reader.look(closely=True)
    state.gpu(1, error=UNINITIALIZED)
    with pytest.raises(NvmlRefusedError):
        reader.look(closely=False)


def answers(reader: ProbeReader) -> bool:
    try:
        return bool(reader.look(closely=True).gpus)
    except NvmlRefusedError:
        time.sleep(0.1)
        return False


def test_a_library_that_does_not_fit_is_loaded_anew_once_the_right_one_is_there(state: NvmlState) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compile_to(folder, "550.54.15")
        with prober(state, folder) as child:
            reader = ProbeReader(child)
            with pytest.raises(NvmlRefusedError) as caught:
                reader.look(closely=False)
            assert caught.value.code == LIB_RM_VERSION_MISMATCH
            compile_to(folder, "570.148.08")
            eventually(lambda: answers(reader))


def test_no_library_is_told_as_such(tmp_path: Path) -> None:
    if any(Path(folder, "libnvidia-ml.so.1").exists() for folder in ("/usr/lib64", "/usr/lib/x86_64-linux-gnu")):
        pytest.skip("this machine has an NVIDIA driver")
    with prober(NvmlState(tmp_path / "state"), tmp_path) as child, pytest.raises(NvmlRefusedError, match="Not Found"):
        ProbeReader(child).look(closely=False)


def test_a_library_named_in_the_settings_is_the_one(state: NvmlState, tmp_path: Path) -> None:
    with prober(state, tmp_path) as child:
        reader = ProbeReader(child, str(built() / "libnvidia-ml.so.1"))
        assert len(reader.look(closely=True).gpus) == GPUS


def test_gpus_that_refuse_to_tell_events_are_still_read(state: NvmlState, reader: ProbeReader) -> None:
    state.every(register=4)
    look = reader.look(closely=True)
    assert (look.events_off, len(look.gpus)) == ("Insufficient Permissions", GPUS)


def test_newer_types_of_events_are_asked_for_where_a_gpu_has_them(state: NvmlState, reader: ProbeReader) -> None:
    state.gpu(0, events="0x8008")
    reader.look(closely=True)
    state.event(1, 0x8000, 1)  # this one does not have it
    state.event(0, 0x8000, 1)
    told = first_events(reader)
    assert [(event.type, event.pci) for event in told] == [(0x8000, pci_of(0))]


@pytest.mark.parametrize("call", ["nvmlDeviceGetFieldValues", "nvmlDeviceGetNvLinkState", "nvmlInitWithFlags"])
def test_a_call_that_hangs_is_a_fault_and_its_return_the_end_of_it(
    state: NvmlState, reader: ProbeReader, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr("agent.gpu.nvml.reader.LOOK_SECONDS", 0.2)
    monkeypatch.setattr("agent.gpu.nvml.reader.FIRST_SECONDS", 0.2 if call == "nvmlInitWithFlags" else 90.0)
    with bench() as work:
        poll = NvmlPoll(reader, XidLedger(), P5)
        if call != "nvmlInitWithFlags":
            reader.look(closely=False)
        state.library(hang=call)
        told = [event for second in range(0, 90, 30) for event in work.poll(poll, second)]
        assert [(event["kind"], event["severity"]) for event in told] == [
            ("gpu.driver_hung", "error"),
            ("gpu.driver_hung", "critical"),
        ]
        state.library(hang=None)
        for patience in ("LOOK_SECONDS", "FIRST_SECONDS"):  # what is slow from here on is the machine
            monkeypatch.setattr(f"agent.gpu.nvml.reader.{patience}", 90.0)
        eventually(lambda: _comes_back(reader))
        told = [event for second in range(100, 180, 20) for event in work.poll(poll, second)]
        assert "condition.cleared" in [event["kind"] for event in told]


def _comes_back(reader: ProbeReader) -> bool:
    try:
        return isinstance(reader.look(closely=False), Look)
    except DriverHungError:
        return False


def test_the_child_is_lean(reader: ProbeReader, child: Prober) -> None:
    reader.look(closely=True)
    status = Path(f"/proc/{child.pid}/status").read_text()
    resident = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024
    assert resident < 20, "MiB; with all of pynvml it is 31"
