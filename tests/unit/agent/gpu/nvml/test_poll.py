import pytest

from agent.gpu.judge import Expected
from agent.gpu.nvml.fake import MemoryGpus
from agent.gpu.nvml.poll import NvmlPoll
from agent.gpu.nvml.reader import NvmlRefusedError
from agent.gpu.nvml.snapshot import (
    DRIVER_NOT_LOADED,
    LIB_RM_VERSION_MISMATCH,
    LIBRARY_NOT_FOUND,
    NO_PERMISSION,
    UNKNOWN,
    GpuEvent,
)
from agent.polls.reading import NotHereError
from agent.xid_ledger import XidLedger
from tests.tools.nvml.gpus import P5, eight, gpu
from tests.tools.nvml.state import pci_of
from tests.tools.polling import LATE, Bench, bench, instant

EARLY = 60.0  # seconds since boot


def poll_of(gpus: MemoryGpus, expected: Expected = P5, ledger: XidLedger | None = None, bus: int = 0) -> NvmlPoll:
    return NvmlPoll(gpus, ledger or XidLedger(), expected, lambda: ["0000:53:00"] * bus)


def kinds(work: Bench, poll: NvmlPoll, *seconds: float, uptime: float = LATE) -> list[str]:
    return [event["kind"] for second in seconds for event in work.poll(poll, second, uptime=uptime)]


def test_a_healthy_node_tells_nothing_in_an_hour() -> None:
    with bench() as work:
        poll = poll_of(MemoryGpus(*eight()))
        assert kinds(work, poll, *range(0, 3600, 7)) == []


def test_what_only_a_close_look_sees_is_not_over_between_two() -> None:
    with bench() as work:
        poll = poll_of(MemoryGpus(*eight(gpu(0, {"sram_exceeded": True}))))
        assert kinds(work, poll, *range(300)) == ["gpu.sram_threshold_exceeded"]


def test_heat_that_lasts_is_told_though_most_looks_do_not_see_it() -> None:
    with bench() as work:
        poll = poll_of(MemoryGpus(*eight(gpu(0, {"margin": -3}))))
        assert kinds(work, poll, *range(29)) == []
        assert kinds(work, poll, *range(29, 60)) == ["gpu.overheated"]


def test_a_close_look_is_taken_every_ten_seconds_and_when_the_driver_asks() -> None:
    gpus = MemoryGpus(*eight(gpu(0, {"sram_exceeded": True})))
    poll = poll_of(gpus)
    with bench() as work:
        gpus.gpus[0] = gpu(0)
        kinds(work, poll, 0)
        gpus.gpus[0] = gpu(0, {"sram_exceeded": True})
        assert kinds(work, poll, 1, 2) == []
        gpus.tell(GpuEvent(0x1000, 0))
        assert kinds(work, poll, 3) == ["gpu.sram_threshold_exceeded"]


def test_no_library_and_no_driver_without_a_gpu_are_nothing_to_measure() -> None:
    gpus = MemoryGpus()
    for code in (LIBRARY_NOT_FOUND, NO_PERMISSION, DRIVER_NOT_LOADED):
        gpus.refused = NvmlRefusedError(code, "no")
        with pytest.raises(NotHereError):
            poll_of(gpus, Expected(None)).measure({}, instant())
    gpus.refused = None
    with pytest.raises(NotHereError):
        poll_of(gpus, Expected(0)).measure({}, instant())


@pytest.mark.parametrize(("expected", "bus"), [(P5, 0), (Expected(None), 8)])
def test_a_driver_that_is_not_loaded_is_a_fault_where_gpus_are(expected: Expected, bus: int) -> None:
    gpus = MemoryGpus()
    gpus.refused = NvmlRefusedError(DRIVER_NOT_LOADED, "Driver Not Loaded")
    with bench() as work:
        assert kinds(work, poll_of(gpus, expected, bus=bus), 0, 5, 11, 20) == ["gpu.init_failed"]


def test_while_a_node_boots_a_missing_driver_is_normal() -> None:
    gpus = MemoryGpus(*eight())
    gpus.refused = NvmlRefusedError(DRIVER_NOT_LOADED, "Driver Not Loaded")
    with bench() as work:
        poll = poll_of(gpus)
        assert kinds(work, poll, 0, 30, 100, uptime=EARLY) == []
        gpus.refused = None
        assert kinds(work, poll, 120, 200, uptime=EARLY) == []
        gpus.refused = NvmlRefusedError(DRIVER_NOT_LOADED, "Driver Not Loaded")
        assert kinds(work, poll, 400, 411, uptime=EARLY) == ["gpu.init_failed"]


def test_a_driver_that_does_not_fit_is_told_and_what_was_told_of_gpus_stays() -> None:
    gpus = MemoryGpus(*eight(gpu(0, remap_failed=True)))
    with bench() as work:
        poll = poll_of(gpus)
        assert kinds(work, poll, 0) == ["gpu.row_remap_failed"]
        gpus.refused = NvmlRefusedError(LIB_RM_VERSION_MISMATCH, "mismatch")
        assert kinds(work, poll, *range(10, 200, 10)) == ["gpu.driver_mismatch"]
        gpus.refused = NvmlRefusedError(UNKNOWN, "Unknown Error")
        assert kinds(work, poll, *range(200, 300, 10)) == ["gpu.init_failed", "condition.cleared"]


def test_a_hang_is_an_error_then_critical_then_over_and_nothing_else_is() -> None:
    gpus = MemoryGpus(*eight(gpu(0, remap_failed=True)))
    with bench() as work:
        poll = poll_of(gpus)
        kinds(work, poll, 0)
        gpus.hung = 1.0
        told = [event for second in range(10, 100, 10) for event in work.poll(poll, second)]
        assert [(one["kind"], one["severity"]) for one in told] == [
            ("gpu.driver_hung", "error"),
            ("gpu.driver_hung", "critical"),
        ]
        gpus.hung = None
        assert kinds(work, poll, 110, 120, 145) == ["condition.cleared"]


def test_while_a_gpu_is_reset_nothing_is_told_and_nothing_is_over() -> None:
    gpus = MemoryGpus(*eight(gpu(0, recovery_action=1)))
    with bench() as work:
        poll = poll_of(gpus)
        assert kinds(work, poll, 0) == ["gpu.recovery_action"]
        gpus.resting = True
        assert kinds(work, poll, *range(10, 200, 10)) == []
        gpus.resting, gpus.gpus[0] = False, gpu(0)
        assert kinds(work, poll, 200, 210, 240) == ["condition.cleared"]


def xid(code: int, gpu_instance: int | None = None, compute_instance: int | None = None) -> GpuEvent:
    return GpuEvent(0x8, code, pci_of(0), 0, gpu_instance=gpu_instance, compute_instance=compute_instance)


def test_an_xid_that_the_log_told_is_not_told_again() -> None:
    gpus, ledger = MemoryGpus(*eight()), XidLedger()
    with bench() as work:
        poll = poll_of(gpus, ledger=ledger)
        kinds(work, poll, 0)
        ledger.note(pci_of(0), 79, LATE + 8)
        gpus.tell(xid(79))
        gpus.tell(xid(94))
        assert kinds(work, poll, 10) == []
        ledger.note(pci_of(0), 94, LATE + 12)
        assert kinds(work, poll, *range(11, 40)) == []


def test_an_xid_that_the_log_is_silent_about_is_told_after_five_seconds() -> None:
    gpus, ledger = MemoryGpus(*eight()), XidLedger()
    ledger.note(pci_of(1), 94, LATE + 10)
    ledger.note(pci_of(0), 94, LATE - 20)
    with bench() as work:
        poll = poll_of(gpus, ledger=ledger)
        gpus.tell(xid(94, 5, 0))
        assert kinds(work, poll, 10, 11, 14) == []
        [event] = work.poll(poll, 15)
        assert event["kind"] == "gpu.xid"
        assert event["attributes"] == {
            "xid": 94,
            "gpu_instance": 5,
            "compute_instance": 0,
            "occurrence": f"memory:{pci_of(0)}",
        }
        assert event["component"]["pci"] == pci_of(0)


def test_xids_are_told_even_while_the_driver_hangs() -> None:
    gpus = MemoryGpus(*eight())
    with bench() as work:
        poll = poll_of(gpus)
        gpus.tell(xid(119))
        gpus.hung = 1.0
        assert sorted(kinds(work, poll, 0, 6)) == ["gpu.driver_hung", "gpu.xid"]


def test_a_restart_of_the_agent_tells_nothing_twice() -> None:
    gpus = MemoryGpus(*eight(gpu(0, {"sram_exceeded": True}, ecc_uncorrected=3)))
    with bench() as work:
        assert sorted(kinds(work, poll_of(gpus), 0, 1)) == ["gpu.ecc_uncorrected", "gpu.sram_threshold_exceeded"]
        work.restart()
        assert kinds(work, poll_of(gpus), 20, 21, 60) == []
