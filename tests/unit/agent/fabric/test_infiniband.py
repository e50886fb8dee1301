from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.fabric.infiniband.poll import InfinibandPorts
from agent.polls.reading import NotHereError
from tests.tools.polling import Bench, bench, measure
from tests.tools.trees import lay_out, port, remove_device, write

Events = list[dict[str, Any]]


@pytest.fixture
def work() -> Iterator[Bench]:
    with bench() as one:
        yield one


@pytest.fixture
def node(tmp_path: Path) -> Path:
    return lay_out("h100-infiniband", tmp_path)


def down(node: Path, device: str, *, physical: str = "2: Polling") -> None:
    write(port(node, device) / "state", "1: DOWN")
    write(port(node, device) / "phys_state", physical)


def up(node: Path, device: str) -> None:
    write(port(node, device) / "state", "4: ACTIVE")
    write(port(node, device) / "phys_state", "5: LinkUp")


def polled(work: Bench, poll: InfinibandPorts, *seconds: int) -> Events:
    return [event for second in seconds for event in work.poll(poll, second)]


def test_a_port_that_goes_down_is_told_and_so_is_its_recovery(node: Path, work: Bench) -> None:
    poll = InfinibandPorts(node)
    polled(work, poll, 0)
    down(node, "mlx5_3")
    (event,) = polled(work, poll, 10, 20)
    assert (event["kind"], event["severity"]) == ("network.link_down", "error")
    assert event["component"] == {"type": "nic", "pci": "0000:5d:00"}
    expected = {"device": "mlx5_3", "port": 1, "layer": "InfiniBand", "state": "DOWN", "physical": "Polling"}
    assert event["attributes"] == expected
    up(node, "mlx5_3")
    (over,) = polled(work, poll, 30)
    assert (over["kind"], over["attributes"]["occurrence"]) == ("network.link_up", event["id"])


def test_a_port_without_a_cable_is_no_fault_unless_it_is_expected(node: Path, work: Bench) -> None:
    assert polled(work, InfinibandPorts(node, expected=9), 0, 10, 20) == []
    told = polled(work, InfinibandPorts(node, expected=10), 30, 40, 50)
    assert [one["attributes"]["device"] for one in told] == ["mlx5_9"]


def test_a_port_that_an_operator_switches_off_is_no_fault_and_no_recovery(node: Path, work: Bench) -> None:
    poll = InfinibandPorts(node)
    polled(work, poll, 0)
    down(node, "mlx5_1", physical="3: Disabled")
    assert polled(work, poll, 10, 20, 100) == []
    up(node, "mlx5_1")
    polled(work, poll, 110)
    down(node, "mlx5_1")
    (event,) = polled(work, poll, 120, 130)
    down(node, "mlx5_1", physical="3: Disabled")
    assert polled(work, poll, 140, 200) == []
    assert event["kind"] == "network.link_down"


def test_a_port_that_waits_for_its_subnet_manager_gets_a_minute(node: Path, work: Bench) -> None:
    poll = InfinibandPorts(node)
    polled(work, poll, 0)
    write(port(node, "mlx5_0") / "state", "2: INIT")
    assert polled(work, poll, 10, 30, 60) == []
    assert [one["attributes"]["state"] for one in polled(work, poll, 70)] == ["INIT"]


def test_a_link_that_goes_down_three_times_within_an_hour_flaps(node: Path, work: Bench) -> None:
    poll = InfinibandPorts(node)
    polled(work, poll, 0)
    told: Events = []
    for at, count in ((600, 2), (1200, 3), (1800, 4)):
        write(port(node, "mlx5_0") / "counters/link_downed", count)
        told += polled(work, poll, at)
    assert [(one["kind"], one["attributes"]["times"]) for one in told] == [("network.link_flapping", 3)]
    assert [one["kind"] for one in polled(work, poll, 4250, 4290)] == ["condition.cleared"]


def test_a_roce_port_that_does_not_count_its_flaps_is_counted_by_looking(node: Path, work: Bench) -> None:
    poll = InfinibandPorts(node)
    (port(node, "mlx5_8") / "counters/link_downed").unlink()
    told: Events = []
    for at in range(3):
        up(node, "mlx5_8")
        told += polled(work, poll, 100 * at)
        down(node, "mlx5_8")
        told += polled(work, poll, 100 * at + 5)
    assert "network.link_flapping" in [one["kind"] for one in told]


def test_a_port_slower_than_it_was_or_than_the_others_is_degraded(node: Path, work: Bench) -> None:
    write(port(node, "mlx5_2") / "rate", "200 Gb/sec (2X NDR)")
    poll = InfinibandPorts(node)
    (slow,) = polled(work, poll, 0, 40)
    assert (slow["kind"], slow["severity"]) == ("network.link_degraded", "warning")
    assert (slow["attributes"]["gigabits"], slow["attributes"]["expected"], slow["attributes"]["than"]) == (
        200.0,
        400.0,
        "the others",
    )
    write(port(node, "mlx5_8") / "rate", "100 Gb/sec (4X EDR)")
    (slower,) = polled(work, poll, 50, 80)
    assert (slower["attributes"]["device"], slower["attributes"]["than"]) == ("mlx5_8", "before")


@pytest.mark.parametrize(
    ("counter", "rise", "told"),
    [
        ("counters/symbol_error", 500, 0),  # four levels: always some
        ("counters/symbol_error", 700, 1),
        ("counters/link_error_recovery", 5, 0),
        ("counters/link_error_recovery", 6, 1),
        ("counters/port_rcv_errors", 600, 1),
        ("counters/local_link_integrity_errors", 1, 1),
        ("counters/excessive_buffer_overrun_errors", 1, 1),
        ("hw_counters/local_ack_timeout_err", 60, 1),
        ("hw_counters/out_of_sequence", 5000, 0),
        ("hw_counters/roce_adp_retrans", 6000, 1),
    ],
)
def test_error_counters_are_judged_by_how_fast_they_rise(
    node: Path, work: Bench, counter: str, rise: int, told: int
) -> None:
    poll = InfinibandPorts(node)
    polled(work, poll, 0)
    path = port(node, "mlx5_0") / counter
    write(path, int(path.read_text()) + rise)
    found = polled(work, poll, 10)
    assert [(one["kind"], one["attributes"]["reason"]) for one in found] == [
        ("network.port_errors", Path(counter).name)
    ] * told


@pytest.mark.parametrize(
    ("counter", "rise", "told"),
    [
        ("hw_counters/out_of_sequence", 100_000, 0),  # 28 a second for an hour
        ("hw_counters/out_of_sequence", 400_000, 1),
        ("counters/link_error_recovery", 200, 0),
        ("counters/link_downed", 20, 1),
        ("counters/local_link_integrity_errors", 1, 1),
    ],
)
def test_what_rose_while_nobody_looked_is_no_sudden_rise(
    node: Path, work: Bench, counter: str, rise: int, told: int
) -> None:
    """An agent that is begun again after an hour sees all of the hour at once."""
    polled(work, InfinibandPorts(node), 0, 10, 20)
    work.restart()
    path = port(node, "mlx5_0") / counter
    write(path, int(path.read_text()) + rise)
    assert len(polled(work, InfinibandPorts(node), 3620, 3630)) == told


def test_a_link_of_two_levels_may_have_120_symbol_errors_an_hour(node: Path, work: Bench) -> None:
    write(port(node, "mlx5_8") / "rate", "100 Gb/sec (4X EDR)")
    poll = InfinibandPorts(node)
    polled(work, poll, 0)
    told: Events = []
    for at in range(1, 13):
        write(port(node, "mlx5_8") / "counters/symbol_error", at * 10)
        told += polled(work, poll, at * 250)
    assert [one["attributes"]["rise"] for one in told] == [120]


def test_a_counter_that_is_full_tells_nothing_and_is_not_called_well(node: Path, work: Bench) -> None:
    poll = InfinibandPorts(node)
    polled(work, poll, 0)
    write(port(node, "mlx5_0") / "counters/local_link_integrity_errors", 3)
    assert len(polled(work, poll, 10)) == 1
    write(port(node, "mlx5_0") / "counters/local_link_integrity_errors", 15)
    assert [one["kind"] for one in polled(work, poll, 20, 700, 900) if "ongoing" not in one["attributes"]] == []


def test_an_adapter_that_is_gone_from_the_bus_has_failed(node: Path, work: Bench) -> None:
    poll = InfinibandPorts(node)
    polled(work, poll, 0)
    remove_device(node, "mlx5_4", from_bus=True)
    (event,) = polled(work, poll, 10, 20)
    assert (event["kind"], event["severity"]) == ("network.device_failed", "critical")
    assert event["attributes"] == {"device": "mlx5_4", "on_pci_bus": False, "driver": ""}


def test_an_adapter_that_its_driver_recovers_gets_a_minute(node: Path, work: Bench) -> None:
    poll = InfinibandPorts(node)
    polled(work, poll, 0)
    remove_device(node, "mlx5_4")
    assert polled(work, poll, 10, 60) == []
    (event,) = polled(work, poll, 70)
    assert event["attributes"] == {"device": "mlx5_4", "on_pci_bus": True, "driver": "mlx5_core"}


def test_an_adapter_given_to_a_container_is_neither_well_nor_ill(node: Path, work: Bench) -> None:
    write(node / "module/ib_core/parameters/netns_mode", "N")
    poll = InfinibandPorts(node)
    polled(work, poll, 0)
    down(node, "mlx5_4")
    assert len(polled(work, poll, 10, 20)) == 1
    remove_device(node, "mlx5_4")
    assert polled(work, poll, 30, 300) == []


def test_a_virtual_function_that_goes_is_no_fault(node: Path, work: Bench) -> None:
    (node / "bus/pci/devices/0000:18:00.0/physfn").symlink_to("../0000:2a:00.0")
    poll = InfinibandPorts(node)
    polled(work, poll, 0)
    remove_device(node, "mlx5_0")
    assert polled(work, poll, 10, 100, 200) == []


def test_a_state_that_cannot_be_read_is_neither_up_nor_down(node: Path, work: Bench) -> None:
    poll = InfinibandPorts(node)
    polled(work, poll, 0)
    down(node, "mlx5_3")
    assert len(polled(work, poll, 10, 20)) == 1
    (port(node, "mlx5_3") / "state").unlink()
    (port(node, "mlx5_3") / "state").mkdir()
    assert polled(work, poll, 30, 60) == []


def test_a_restart_of_the_agent_forgets_nothing(node: Path, work: Bench) -> None:
    polled(work, InfinibandPorts(node), 0, 16)
    work.restart()
    down(node, "mlx5_3")
    assert [one["kind"] for one in polled(work, InfinibandPorts(node), 20, 30)] == ["network.link_down"]


def test_expected_ports_without_any_adapter_are_missed(tmp_path: Path, work: Bench) -> None:
    (event,) = polled(work, InfinibandPorts(tmp_path, expected=8), 0, 10)
    assert event["attributes"] == {"expected": 8, "found": 0}
    with pytest.raises(NotHereError):
        measure(InfinibandPorts(tmp_path))
