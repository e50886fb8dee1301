from typing import Any

import pytest

from agent.gpu.judge import Expected
from policies.contract.vocabulary import Kind, Severity
from tests.tools.nvml.gpus import Node, eight, gpu


def reasons(node: Node, seconds: float = 0.0, **detail: Any) -> list[object]:  # noqa: ANN401 - any field
    return [one.sighting.attributes["reason"] for one in node.faults(eight(gpu(0, detail)), seconds)]


@pytest.mark.parametrize(("width", "severity"), [(8, Severity.ERROR), (12, Severity.WARNING)])
def test_a_narrow_link_is_a_fault_busy_or_not(width: int, severity: Severity) -> None:
    [fault] = Node().faults(eight(gpu(0, {"width": width, "busy": 0})))
    assert (fault.sighting.kind, fault.sighting.severity) == (Kind.GPU_PCIE_DEGRADED, severity)
    assert fault.sighting.attributes == {"reason": "width", "width": width, "full_width": 16}


def test_an_idle_gpu_lowers_its_generation() -> None:
    assert reasons(Node(), generation=1, busy=0) == []
    assert reasons(Node(), generation=1, busy=None) == []
    assert reasons(Node(), generation=1, busy=90) == ["generation"]


def test_a_g_instance_has_narrow_slots_and_is_judged_by_what_it_was_and_by_its_siblings() -> None:
    g4dn = Expected(8, narrow_slots=True)
    node = Node(g4dn)
    half = [gpu(index, {"width": 8}) for index in range(8)]
    assert node.faults(half) == []
    assert len(node.faults([gpu(0, {"width": 4}), *half[1:]], 10)) == 1
    fresh = Node(g4dn)
    assert len(fresh.faults([gpu(0, {"width": 4}), *half[1:]])) == 1
    alone = Node(Expected(1, narrow_slots=True))
    assert alone.faults([gpu(0, {"width": 8})]) == []
    assert len(alone.faults([gpu(0, {"width": 4})], 10)) == 1


def test_replays_are_a_rate() -> None:
    node = Node()
    seen = [reasons(node, 10.0 * turn, pcie_replays=10**6 + turn) for turn in range(20)]
    assert seen == [[]] * 20, "six a minute"
    node = Node()
    seen = [reasons(node, 10.0 * turn, pcie_replays=10**6 + 2 * turn) for turn in range(20)]
    assert seen[:6] == [[]] * 6
    assert seen[6:] == [["replays"]] * 14, "twelve a minute"


def test_replays_that_stopped_are_over() -> None:
    node = Node()
    assert [reasons(node, 60.0 * turn, pcie_replays=min(turn, 3) * 100) for turn in range(6)] == [
        [],
        ["replays"],
        ["replays"],
        ["replays"],
        [],
        [],
    ]


@pytest.mark.parametrize(
    ("detail", "hot"),
    [
        ({"margin": 46}, []),
        ({"margin": 0}, []),
        ({"margin": -2}, ["core"]),
        ({"margin": -5, "memory_temperature": 97}, ["core", "memory"]),
        ({"margin": None, "temperature": 88, "slowdown_temperature": 89}, []),
        ({"margin": None, "temperature": 90, "slowdown_temperature": 89}, ["core"]),
        ({"margin": None, "temperature": 90, "slowdown_temperature": None}, []),
        ({"memory_temperature": 95}, ["memory"]),
        ({"memory_temperature": 120, "memory_limit": None}, []),
    ],
)
def test_heat_is_judged_by_the_vendors_limits(detail: dict[str, Any], hot: list[str]) -> None:
    assert reasons(Node(), **detail) == hot


@pytest.mark.parametrize(
    ("action", "name", "severity"),
    [
        (1, "gpu_reset", "error"),
        (2, "node_reboot", "critical"),
        (3, "drain_p2p", "warning"),
        (4, "drain_and_reset", "error"),
    ],
)
def test_what_the_driver_asks_for_is_told(action: int, name: str, severity: str) -> None:
    [fault] = Node().faults(eight(gpu(0, recovery_action=action)))
    assert fault.sighting.kind == Kind.GPU_RECOVERY_ACTION
    assert fault.sighting.attributes == {"recovery_action": action, "recovery": name}
    assert fault.sighting.severity == severity
