from agent.polls.reading import Happened, NotMeasured
from policies.contract.vocabulary import Kind, Severity
from tests.tools.nvml.gpus import Node, eight, gpu, kinds
from tests.tools.nvml.state import pci_of


def counts(faults: object) -> list[tuple[str, int]]:
    assert isinstance(faults, list)
    return [(one.sighting.kind.value, one.count) for one in faults if isinstance(one, Happened)]


def test_uncorrected_errors_of_this_boot_are_told_at_the_first_look() -> None:
    [fault] = Node().faults(eight(gpu(0, ecc_uncorrected=2, ecc_uncorrected_dram=2)))
    assert isinstance(fault, Happened)
    assert (fault.sighting.kind, fault.sighting.severity, fault.count) == (
        Kind.GPU_ECC_UNCORRECTED,
        Severity.ERROR,
        2,
    )
    assert fault.sighting.attributes == {"memory": "dram", "occurrence": f"memory:{pci_of(0)}"}


def test_each_is_told_once() -> None:
    node = Node()
    node.look(eight(gpu(0, ecc_uncorrected=2)))
    assert node.faults(eight(gpu(0, ecc_uncorrected=2)), 1) == []
    assert counts(node.faults(eight(gpu(0, ecc_uncorrected=5)), 2)) == [("gpu.ecc_uncorrected", 3)]


def test_an_error_that_is_not_in_dram_is_in_a_cache() -> None:
    [fault] = Node().faults(eight(gpu(0, ecc_uncorrected=1, ecc_uncorrected_dram=0)))
    assert fault.sighting.attributes["memory"] == "sram"


def test_the_driver_was_loaded_anew_and_counts_from_nothing() -> None:
    node = Node()
    node.look(eight(gpu(0, ecc_uncorrected=7)))
    assert node.faults(eight(gpu(0, ecc_uncorrected=0)), 1) == []
    assert counts(node.faults(eight(gpu(0, ecc_uncorrected=1)), 2)) == [("gpu.ecc_uncorrected", 1)]


def test_errors_of_earlier_boots_are_old() -> None:
    node = Node()
    old = gpu(0, {"ecc_uncorrected_ever": 40, "ecc_corrected_ever": 9000})
    assert node.faults(eight(old)) == []
    assert node.faults(eight(old), 10) == []


def test_an_error_in_both_counters_is_one() -> None:
    node = Node()
    node.look(eight(gpu(0, {"ecc_uncorrected_ever": 40})))
    after = gpu(0, {"ecc_uncorrected_ever": 41}, ecc_uncorrected=1)
    assert counts(node.faults(eight(after), 10)) == [("gpu.ecc_uncorrected", 1)]
    assert [node.faults(eight(after), 10 * turn) for turn in (2, 3, 4)] == [[], [], []]


def test_the_aggregate_that_is_written_first_is_not_told_beside_the_volatile_one() -> None:
    node = Node()
    node.look(eight(gpu(0, {"ecc_uncorrected_ever": 40})))
    assert node.faults(eight(gpu(0, {"ecc_uncorrected_ever": 41})), 10) == []
    after = gpu(0, {"ecc_uncorrected_ever": 41}, ecc_uncorrected=1)
    assert counts(node.faults(eight(after), 11)) == [("gpu.ecc_uncorrected", 1)]
    assert node.faults(eight(after), 20) == []
    assert node.faults(eight(after), 30) == []


def test_an_error_that_a_reload_of_the_driver_hid_is_told_by_the_aggregate() -> None:
    node = Node()
    node.look(eight(gpu(0, {"ecc_uncorrected_ever": 40})))
    hidden = gpu(0, {"ecc_uncorrected_ever": 42}, ecc_uncorrected=0)
    assert node.faults(eight(hidden), 10) == []
    [fault] = node.faults(eight(hidden), 20)
    assert isinstance(fault, Happened)
    assert (fault.count, fault.sighting.attributes["counter"]) == (2, "aggregate")
    assert node.faults(eight(hidden), 30) == []


def test_corrected_errors_are_information_and_once_a_minute() -> None:
    node = Node()
    node.look(eight(gpu(0, {"ecc_corrected": 1000})))
    told = [
        (second, one)
        for second in range(10, 130, 10)
        for one in counts(node.faults(eight(gpu(0, {"ecc_corrected": 1000 + second})), second))
    ]
    assert [one for _, one in told] == [("gpu.ecc_corrected", 10), ("gpu.ecc_corrected", 60)]


def test_too_many_sram_errors_hold_for_good() -> None:
    [fault] = Node().faults(eight(gpu(0, {"sram_exceeded": True})))
    assert (fault.sighting.kind, fault.sighting.severity) == (Kind.GPU_SRAM_THRESHOLD_EXCEEDED, Severity.ERROR)


def test_a_part_that_counts_nothing_is_not_called_well() -> None:
    readings = Node().look(
        eight(gpu(0, {"sram_exceeded": None}, ecc_uncorrected=None, remap_failed=None, remap_pending=None))
    )
    assert kinds(readings) == []
    unread = {
        kind
        for one in readings
        if isinstance(one, NotMeasured) and one.component and one.component.index == 0
        for kind in one.kinds
    }
    assert {Kind.GPU_SRAM_THRESHOLD_EXCEEDED, Kind.GPU_ROW_REMAP_FAILED, Kind.GPU_ROW_REMAP_PENDING} <= unread


def test_latched_flags_hold_and_a_failure_is_critical() -> None:
    faults = Node().faults(
        eight(gpu(0, {"rows_remapped": 7}, remap_pending=True, remap_failed=True, retirement_pending=True))
    )
    assert faults[0].sighting.attributes == {"occurrence": f"memory:{pci_of(0)}", "rows_remapped": 7}
    assert [(one.sighting.kind.value, one.sighting.severity.value) for one in faults] == [
        ("gpu.row_remap_pending", "warning"),
        ("gpu.row_remap_failed", "critical"),
        ("gpu.page_retirement_pending", "warning"),
    ]
