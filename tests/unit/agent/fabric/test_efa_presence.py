import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.fabric.devices import RdmaDevice
from agent.fabric.efa.poll import EfaPresence
from agent.fabric.efa.presence import EfaLook, judge_presence
from agent.polls.reading import Holds, NotHereError
from tests.tools.polling import Bench, bench, measure

SEVEN = ["0000:4f:00", "0000:52:00", "0000:63:00", "0000:65:00", "0000:7d:00", "0000:7e:00", "0000:7f:00"]


def efa(pci: str) -> RdmaDevice:
    return RdmaDevice(f"rdmap{int(pci[5:7], 16)}s{int(pci[8:10], 16)}", pci, is_efa=True)


ALL = [efa(pci) for pci in SEVEN]


@pytest.fixture
def work() -> Iterator[Bench]:
    with bench() as one:
        yield one


def add_device(sysfs: Path, name: str) -> Path:
    folder = sysfs / "class/infiniband" / name / "device"
    folder.mkdir(parents=True)
    (folder / "vendor").write_text("0x1d0f\n")
    return folder.parent


def test_a_device_that_was_seen_and_is_gone_is_named_with_how_many_there_should_be(work: Bench) -> None:
    assert work.take(judge_presence(EfaLook(ALL), work.work.memory), 0) == []
    fewer = EfaLook(ALL[1:], frozenset(SEVEN[1:]))
    assert work.take(judge_presence(fewer, work.work.memory), 2) == []
    (event,) = work.take(judge_presence(fewer, work.work.memory), 4)
    assert (event["kind"], event["severity"]) == ("network.efa_missing", "error")
    assert event["component"] == {"type": "nic", "pci": SEVEN[0]}
    assert event["attributes"] == {"expected": 7, "found": 6, "device": "rdmap79s0", "on_pci_bus": False}


def test_a_reload_of_the_driver_between_two_looks_is_no_fault(work: Bench) -> None:
    looks = [ALL, [], ALL, ALL]
    assert [work.take(judge_presence(EfaLook(one), work.work.memory), 2 * at) for at, one in enumerate(looks)] == [
        [] for _ in looks
    ]


def test_a_device_that_comes_back_clears_its_fault_and_no_other(work: Bench) -> None:
    for second, here in ((0, ALL), (2, ALL[2:]), (4, ALL[2:])):
        work.take(judge_presence(EfaLook(here), work.work.memory), second)
    told = [work.take(judge_presence(EfaLook(ALL[1:]), work.work.memory), second) for second in (6, 40)]
    assert [(one["kind"], one["attributes"]["device"]) for events in told for one in events] == [
        ("condition.cleared", "rdmap82s0")
    ]


def test_fewer_devices_than_the_type_allows_are_no_fault() -> None:
    assert judge_presence(EfaLook(ALL), {}) == []


def test_an_adapter_on_the_bus_that_no_driver_registered_is_a_fault_once_the_boot_is_over() -> None:
    (reading,) = judge_presence(EfaLook(ALL[1:], frozenset(SEVEN)), {})
    assert isinstance(reading, Holds)
    assert not reading.in_boot
    assert reading.sighting.attributes["on_pci_bus"] is True


def test_where_no_driver_holds_any_adapter_none_is_missed() -> None:
    assert judge_presence(EfaLook([], frozenset(SEVEN)), {}) == []


@pytest.mark.parametrize("look", [EfaLook(ALL, attached=8), EfaLook(ALL, asked=8)], ids=["attached", "asked for"])
def test_what_is_attached_or_asked_for_is_missed_without_a_name(look: EfaLook) -> None:
    (reading,) = judge_presence(look, {})
    assert isinstance(reading, Holds)
    assert reading.sighting.attributes == {"expected": 8, "found": 7}
    assert not reading.in_boot


def test_a_directory_that_is_taken_away_is_told_at_the_second_look(tmp_path: Path, work: Bench) -> None:
    """The shape of a simulated node: plain folders, fewer than a real p5 has."""
    for name in ("rdmap79s0", "rdmap80s0", "rdmap81s0"):
        add_device(tmp_path, name)
    poll = EfaPresence(tmp_path, possible=32)
    assert work.poll(poll, 0) == []
    shutil.rmtree(tmp_path / "class/infiniband/rdmap80s0")
    assert work.poll(poll, 2) == []
    (event,) = work.poll(poll, 4)
    assert event["attributes"] == {"expected": 3, "found": 2, "device": "rdmap80s0"}
    work.restart()
    assert work.poll(EfaPresence(tmp_path, possible=32), 6) == []
    add_device(tmp_path, "rdmap80s0")
    assert [one["kind"] for second in (8, 40) for one in work.poll(poll, second)] == ["condition.cleared"]


def test_the_last_device_is_missed_as_any_other(tmp_path: Path, work: Bench) -> None:
    only = add_device(tmp_path, "rdmap79s0")
    poll = EfaPresence(tmp_path)
    work.poll(poll, 0)
    shutil.rmtree(only)
    work.poll(poll, 2)
    assert [one["kind"] for one in work.poll(poll, 4)] == ["network.efa_missing"]


def test_a_node_without_efa_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotHereError, match="no EFA device"):
        measure(EfaPresence(tmp_path))


def test_where_the_type_has_efa_a_driver_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    assert measure(EfaPresence(tmp_path, possible=32)) == []


def test_the_metadata_is_asked_rarely_and_its_silence_changes_nothing(tmp_path: Path, work: Bench) -> None:
    answers: list[int | None] = [2, None]
    add_device(tmp_path, "rdmap79s0")
    poll = EfaPresence(tmp_path, attached=lambda: answers.pop(0))
    told = [one for second in (0, 2, 300, 601, 900) for one in work.poll(poll, second)]
    assert [one["attributes"]["expected"] for one in told] == [2, 2]
    assert answers == []
