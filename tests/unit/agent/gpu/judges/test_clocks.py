import pytest

from policies.contract.vocabulary import Kind, Severity
from tests.tools.nvml.gpus import Node, eight, gpu
from tests.tools.polling import bench

IDLE, POWER_CAP, HW_SLOWDOWN, SW_THERMAL, HW_THERMAL, POWER_BRAKE = 0x1, 0x4, 0x8, 0x20, 0x40, 0x80


def reasons(node: Node, mask: int, seconds: float) -> list[str]:
    faults = node.faults(eight(gpu(0, reasons=mask)), seconds, closely=False)
    assert all(fault.sighting.kind == Kind.GPU_SLOWDOWN for fault in faults)
    return [str(fault.sighting.attributes["reason"]) for fault in faults]


@pytest.mark.parametrize("mask", [0, IDLE, POWER_CAP, SW_THERMAL, IDLE | POWER_CAP | SW_THERMAL])
def test_what_busy_and_idle_gpus_do_is_never_a_fault(mask: int) -> None:
    node = Node()
    assert [reasons(node, mask, 5.0 * turn) for turn in range(400)] == [[]] * 400


@pytest.mark.parametrize(
    ("mask", "reason"),
    [(HW_THERMAL | HW_SLOWDOWN, "hw_thermal"), (HW_SLOWDOWN, "hw_slowdown"), (POWER_CAP | HW_THERMAL, "hw_thermal")],
)
def test_a_slowdown_in_six_of_ten_minutes_is_one(mask: int, reason: str) -> None:
    node = Node()
    seen = [reasons(node, mask if minute % 5 < 3 else 0, 60.0 * minute) for minute in range(30)]
    assert seen[:6] == [[]] * 6
    assert seen[10:] == [[reason]] * 20


def test_now_and_then_is_no_fault() -> None:
    node = Node()
    assert [reasons(node, HW_THERMAL if minute % 2 else 0, 60.0 * minute) for minute in range(40)] == [[]] * 40


def test_one_bad_minute_of_many_looks_is_no_fault() -> None:
    node = Node()
    assert [reasons(node, HW_THERMAL if second < 55 else 0, second) for second in range(300)] == [[]] * 300


def test_a_power_brake_is_one_after_three_looks_in_a_row() -> None:
    node = Node()
    assert [reasons(node, POWER_BRAKE | HW_SLOWDOWN, turn) for turn in range(4)] == [[], [], *[["power_brake"]] * 2]


def test_a_power_brake_now_and_then_is_none() -> None:
    node = Node()
    assert [reasons(node, POWER_BRAKE if turn % 3 else 0, turn) for turn in range(60)] == [[]] * 60


def test_a_power_brake_that_stays_gets_worse_and_is_over_when_it_is_over() -> None:
    with bench() as work:
        node, told = Node(), []
        for second in range(0, 1600, 20):
            mask = POWER_BRAKE if second < 800 else 0
            told += work.take(node.look(eight(gpu(0, reasons=mask)), second, closely=False), second)
    assert [(event["kind"], event["severity"]) for event in told][:2] == [
        ("gpu.slowdown", Severity.WARNING),
        ("gpu.slowdown", Severity.ERROR),
    ]
    assert [event["kind"] for event in told].count("condition.cleared") == 1


def test_after_a_pause_of_the_agent_old_minutes_are_forgotten() -> None:
    node = Node()
    for minute in range(5):
        assert reasons(node, HW_THERMAL, 60.0 * minute) == []
    assert reasons(node, HW_THERMAL, 60.0 * 600) == []


def test_a_healthy_node_remembers_nothing() -> None:
    node = Node()
    reasons(node, HW_THERMAL, 0)
    reasons(node, 0, 3600)
    assert node.memory["clocks"] == {}
