from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.fabric.devices import RdmaDevice
from agent.fabric.efa.counters import COUNTERS, EfaCounters, judge_counters
from agent.fabric.efa.poll import EfaPresence, EfaTraffic
from agent.kernel_files import Number, Unread
from agent.polls.reading import Memory, NotMeasured
from policies.contract.vocabulary import Kind
from tests.tools.polling import Bench, bench
from tests.tools.trees import lay_out, port, remove_device, write

DEVICE = RdmaDevice("rdmap79s0", "0000:4f:00", is_efa=True)
PCI = {"type": "nic", "pci": "0000:4f:00"}


@pytest.fixture
def work() -> Iterator[Bench]:
    with bench() as one:
        yield one


def look(**values: Number) -> EfaCounters:
    return EfaCounters(DEVICE, dict.fromkeys(COUNTERS, 0) | values)


def test_a_remote_that_does_not_answer_is_accused_and_not_this_node() -> None:
    memory: Memory = {}
    judge_counters([look(unresponsive_remote_events=40)], memory)
    (reading,) = judge_counters([look(unresponsive_remote_events=43)], memory)
    assert not isinstance(reading, NotMeasured)
    assert reading.sighting.kind is Kind.NETWORK_PEER_UNRESPONSIVE
    assert reading.sighting.attributes == {"device": "rdmap79s0", "reason": "unresponsive"}


def test_what_was_counted_before_the_agent_or_this_boot_is_old(tmp_path: Path, work: Bench) -> None:
    lay_out("p5", tmp_path)
    assert [work.poll(EfaTraffic(tmp_path), second) for second in (0, 15, 30)] == [[], [], []]


def test_events_are_counted_for_each_device(tmp_path: Path, work: Bench) -> None:
    lay_out("p5", tmp_path)
    poll = EfaTraffic(tmp_path)
    work.poll(poll, 0)
    write(port(tmp_path, "rdmap79s0") / "hw_counters/unresponsive_remote_events", 2 + 3)
    write(port(tmp_path, "rdmap80s0") / "hw_counters/impaired_remote_conn_events", 5 + 1)
    told = work.poll(poll, 15)
    assert [(one["component"]["pci"], one["attributes"]["reason"], one["count"]) for one in told] == [
        ("0000:4f:00", "unresponsive", 3),
        ("0000:50:00", "impaired", 1),
    ]
    assert [one["severity"] for one in told] == ["error", "warning"]


def _send(sysfs: Path, poll: int, *, percent: float) -> None:
    folder = port(sysfs, "rdmap79s0") / "hw_counters"
    write(folder / "tx_pkts", 98765432 + poll * 1_000_000)
    write(folder / "retrans_pkts", 1100 + int(poll * 10_000 * percent))


def test_a_rate_of_retransmits_is_told_once_it_lasted_a_minute(tmp_path: Path, work: Bench) -> None:
    lay_out("p5", tmp_path)
    poll = EfaTraffic(tmp_path)
    told = []
    for at in range(8):
        _send(tmp_path, at, percent=3)
        told += [(at * 15, one) for one in work.poll(poll, at * 15)]
    ((second, event),) = told
    assert second == 75  # the first rate is known at 15 s
    assert (event["kind"], event["severity"], event["component"]) == ("network.efa_errors", "warning", PCI)
    assert event["attributes"] == {"device": "rdmap79s0", "reason": "retransmits", "percent": 3.0}


def test_the_retransmits_of_many_paths_are_no_fault(tmp_path: Path, work: Bench) -> None:
    lay_out("p5", tmp_path)
    poll = EfaTraffic(tmp_path)
    for at in range(10):
        _send(tmp_path, at, percent=0.5)
        assert work.poll(poll, at * 15) == []


def test_a_few_packets_make_no_rate() -> None:
    memory: Memory = {}
    judge_counters([look()], memory)
    assert judge_counters([look(tx_pkts=100, retrans_pkts=50)], memory) == []


def test_older_adapters_that_count_less_are_read_as_far_as_they_do(tmp_path: Path, work: Bench) -> None:
    lay_out("p4d", tmp_path)
    poll, told = EfaTraffic(tmp_path), []
    for at in range(7):
        folder = port(tmp_path, "rdmap16s27") / "hw_counters"
        write(folder / "rx_pkts", 98765000 + at * 1_000_000)
        write(folder / "rx_drops", 3 + at * 50_000)
        told += work.poll(poll, at * 15)
    assert [(one["attributes"]["reason"], one["attributes"]["percent"]) for one in told] == [("receive_drops", 5.0)]


def test_a_counter_that_cannot_be_read_is_not_taken_for_a_healthy_one() -> None:
    memory: Memory = {}
    judge_counters([look()], memory)
    (reading,) = judge_counters([look(retrans_pkts=Unread("Input/output error"))], memory)
    assert isinstance(reading, NotMeasured)
    assert reading.component == DEVICE.component


def test_a_fault_of_a_device_that_is_gone_is_not_called_over(tmp_path: Path, work: Bench) -> None:
    lay_out("p5", tmp_path)
    poll = EfaTraffic(tmp_path)
    for at in range(6):
        _send(tmp_path, at, percent=3)
        work.poll(poll, at * 15)
    remove_device(tmp_path, "rdmap79s0")
    assert [work.poll(poll, second) for second in (90, 300, 600)] == [[], [], []]


def test_a_device_that_is_missed_says_whether_its_function_is_still_on_the_bus(tmp_path: Path, work: Bench) -> None:
    lay_out("p5", tmp_path)
    poll = EfaPresence(tmp_path)
    work.poll(poll, 0)
    remove_device(tmp_path, "rdmap79s0")
    remove_device(tmp_path, "rdmap80s0", from_bus=True)
    work.poll(poll, 2)
    told = [one["attributes"] for one in work.poll(poll, 4)]
    assert [(one["device"], one["on_pci_bus"], one["expected"], one["found"]) for one in told] == [
        ("rdmap79s0", True, 32, 30),
        ("rdmap80s0", False, 32, 30),
    ]


def test_where_devices_are_given_to_containers_one_that_left_this_namespace_is_not_missed(
    tmp_path: Path, work: Bench
) -> None:
    lay_out("p5", tmp_path)
    write(tmp_path / "module/ib_core/parameters/netns_mode", "N")
    poll = EfaPresence(tmp_path, attached=lambda: 32)
    work.poll(poll, 0)
    remove_device(tmp_path, "rdmap79s0")
    remove_device(tmp_path, "rdmap80s0", from_bus=True)
    told = [one["attributes"]["device"] for second in (2, 4, 6) for one in work.poll(poll, second)]
    assert told == ["rdmap80s0"]
