import pytest

from agent.gpu.judge import Expected
from agent.gpu.nvml.snapshot import CORRUPTED_INFOROM, GPU_IS_LOST, NO_PERMISSION, RESET_REQUIRED, UNKNOWN, Gpu
from agent.polls.reading import NotMeasured
from policies.contract.vocabulary import Kind, Persistence, Severity
from tests.tools.nvml.gpus import Node, eight, gpu, kinds
from tests.tools.nvml.state import pci_of, uuid_of
from tests.tools.polling import bench


def lost(index: int, code: int = GPU_IS_LOST) -> Gpu:
    whole = gpu(index)
    return Gpu(index, whole.uuid, whole.pci, whole.serial, whole.name, error=code)


def test_eight_healthy_gpus_are_no_fault() -> None:
    node = Node()
    assert node.faults(eight()) == []
    assert node.faults(eight(), 10, closely=False) == []


def test_a_lost_gpu_is_critical_and_is_one_occurrence_with_its_xid() -> None:
    [fault] = Node().faults(eight(lost(0)))
    assert (fault.sighting.kind, fault.sighting.severity) == (Kind.GPU_LOST, Severity.CRITICAL)
    assert fault.sighting.persistence is Persistence.PERMANENT
    assert fault.sighting.component is not None
    assert fault.sighting.component.pci == pci_of(0)
    assert fault.sighting.attributes == {"nvml_error": 15, "occurrence": f"bus:{pci_of(0)}"}


def test_a_gpu_that_cannot_be_opened_is_named_by_what_stood_there() -> None:
    node = Node()
    node.look(eight())
    [fault] = node.faults(eight(Gpu(0, error=UNKNOWN)), 1)
    assert fault.sighting.component is not None
    assert (fault.sighting.component.uuid, fault.sighting.component.pci) == (uuid_of(0), pci_of(0))


def test_a_gpu_that_the_driver_no_longer_counts_is_lost_and_is_no_second_fault() -> None:
    node = Node()
    node.look(eight())
    [fault] = node.faults(eight()[:7], 1)
    assert fault.sighting.kind == Kind.GPU_LOST
    assert fault.sighting.component is not None
    assert fault.sighting.component.uuid == uuid_of(7)


def test_fewer_gpus_than_the_instance_type_has_from_the_first_look_on() -> None:
    [fault] = Node().faults(eight()[:7])
    assert fault.sighting.kind == Kind.GPU_COUNT_MISMATCH
    assert fault.sighting.attributes == {"found": 7, "expected": 8}


@pytest.mark.parametrize("expected", [None, 7, 4])
def test_a_type_that_nobody_knows_or_with_fewer_gpus_is_no_mismatch(expected: int | None) -> None:
    assert Node(Expected(expected)).faults(eight()[:7]) == []


def test_what_needs_a_reset_says_so() -> None:
    [fault] = Node().faults(eight(lost(0, RESET_REQUIRED)))
    assert fault.sighting.kind == Kind.GPU_RECOVERY_ACTION
    assert fault.sighting.attributes == {"recovery_action": 1, "recovery": "gpu_reset"}


def test_what_the_driver_cannot_use_is_not_lost() -> None:
    assert kinds(Node().look(eight(lost(0, CORRUPTED_INFOROM)))) == [Kind.GPU_INIT_FAILED]


def test_no_permission_is_no_fault_and_no_health() -> None:
    readings = Node().look(eight(lost(0, NO_PERMISSION)))
    assert kinds(readings) == []
    key = (gpu(0)).uuid
    silent = [one for one in readings if isinstance(one, NotMeasured) and one.component and one.component.uuid == key]
    assert any(Kind.GPU_LOST in one.kinds and Kind.GPU_ROW_REMAP_FAILED in one.kinds for one in silent)


def test_what_a_gpu_had_before_it_was_lost_is_not_called_over() -> None:
    with bench() as work:
        node = Node()
        told = work.take(node.look(eight(gpu(0, remap_failed=True))), 0)
        for second in range(1, 120, 10):
            told += work.take(node.look(eight(lost(0)), second), second)
        assert [event["kind"] for event in told] == ["gpu.row_remap_failed", "gpu.lost"]
