from pathlib import Path

import pytest

from agent.host.edac.controllers import Controller, Module, read_controllers
from agent.host.edac.log import SILENT, KernelLog, Told
from agent.host.edac.poll import EdacPoll, judge
from agent.polls.reading import Happened, Memory, NotHereError, Reading
from tests.tools.file_trees import grow
from tests.tools.polling import bench, measure

TREES = Path("tests/data/host/edac")
ALL = Told(corrected=True, uncorrected=True, since_boot=True)
SHAPES = {"p4d": (4, 12), "p5": (2, 32), "p5en": (8, 16), "p6": (8, 24), "gb200": (1, 4)}


def tree(folder: Path, name: str) -> Path:
    return grow(folder, (TREES / f"{name}.txt").read_text())


def node(folder: Path, told: Told = SILENT) -> EdacPoll:
    return EdacPoll(lambda: read_controllers(folder), lambda: told)


def no_memory() -> Memory:
    return {}


def count(folder: Path, name: str, value: int) -> None:
    (folder / "devices/system/edac/mc" / name).write_text(f"{value}\n")


def said(readings: list[Reading]) -> list[tuple[str, int, object]]:
    happened = [one for one in readings if isinstance(one, Happened)]
    return [(one.sighting.kind.value, one.count, one.sighting.attributes.get("device")) for one in happened]


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_of_machine_is_read_and_says_nothing_while_nothing_is_counted(tmp_path: Path, name: str) -> None:
    poll, memory = node(tree(tmp_path, name)), no_memory()
    controllers = poll.read()
    assert (len(controllers), sum(len(one.modules) for one in controllers)) == SHAPES[name]
    assert all(module.label and module.location for one in controllers for module in one.modules)
    assert measure(poll, 0, memory) == measure(poll, 15, memory) == []


@pytest.mark.parametrize("name", SHAPES)
def test_what_rises_is_told_with_the_module_it_belongs_to(tmp_path: Path, name: str) -> None:
    poll, memory = node(tree(tmp_path, name)), no_memory()
    module = poll.read()[0].modules[-1]
    measure(poll, 0, memory)
    count(tmp_path, f"mc0/{module.name}/dimm_ce_count", 3)
    count(tmp_path, "mc0/ce_count", 3)
    (reading,) = measure(poll, 15, memory)
    assert isinstance(reading, Happened)
    assert (reading.count, reading.sighting.kind, reading.sighting.severity) == (3, "host.memory_corrected", "warning")
    assert reading.sighting.attributes == {"errors": 3, "device": module.label, "location": module.location}
    assert reading.sighting.component is not None
    assert reading.sighting.component.key == "dimm:0"
    assert measure(poll, 30, memory) == []


def test_what_no_module_was_found_for_is_told_of_the_controller(tmp_path: Path) -> None:
    poll, memory = node(tree(tmp_path, "p5en")), no_memory()
    measure(poll, 0, memory)
    count(tmp_path, "mc2/dimm0/dimm_ue_count", 1)
    count(tmp_path, "mc2/ue_count", 3)
    label = "CPU_SrcID#0_MC#2_Chan#0_DIMM#0"
    assert said(measure(poll, 15, memory)) == [
        ("host.memory_uncorrected", 1, label),
        ("host.memory_uncorrected", 2, None),
    ]


def test_what_was_corrected_before_is_old_and_what_was_not_is_told(tmp_path: Path) -> None:
    poll = node(tree(tmp_path, "p4d"))
    for what in ("ce", "ue"):
        count(tmp_path, f"mc1/{what}_count", 7)
        count(tmp_path, f"mc1/dimm2/dimm_{what}_count", 7)
    assert said(measure(poll)) == [("host.memory_uncorrected", 7, "CPU_SrcID#0_MC#1_Chan#1_DIMM#0")]


def test_a_driver_that_is_loaded_again_counts_from_nothing(tmp_path: Path) -> None:
    poll, memory = node(tree(tmp_path, "p4d")), no_memory()
    count(tmp_path, "mc0/ce_count", 50)
    measure(poll, 0, memory)
    count(tmp_path, "mc0/ce_count", 2)
    assert said(measure(poll, 15, memory)) == [("host.memory_corrected", 2, None)]


def test_what_the_kernels_log_tells_is_not_told_twice() -> None:
    memory: Memory = {}
    judge([_controller(0)], memory, ALL)
    assert judge([_controller(4)], memory, ALL) == []
    assert said(judge([_controller(9)], memory, SILENT)) == [("host.memory_corrected", 5, None)]


def test_uncorrected_errors_that_the_log_no_longer_holds_are_told_once_by_the_counter() -> None:
    log, memory = Told(corrected=True, uncorrected=True, since_boot=False), no_memory()
    assert said(judge([_controller(4, 2)], memory, log)) == [("host.memory_uncorrected", 2, None)]
    assert judge([_controller(4, 3)], memory, log) == []


def test_where_only_one_of_the_two_is_printed_the_counter_tells_the_other() -> None:
    told, memory = Told(corrected=False, uncorrected=True, since_boot=True), no_memory()
    judge([_controller(0)], memory, told)
    assert said(judge([_controller(1, 1)], memory, told)) == [("host.memory_corrected", 1, None)]


def test_a_restarted_agent_knows_what_was_counted(tmp_path: Path) -> None:
    poll = node(tree(tmp_path, "p5"))
    with bench() as work:
        work.poll(poll, 0)
        count(tmp_path, "mc1/ue_count", 1)
        (event,) = work.poll(poll, 15)
        assert (event["kind"], event["severity"], event["count"]) == ("host.memory_uncorrected", "critical", 1)
        work.restart()
        assert work.poll(poll, 30) == []


def test_a_node_without_a_driver_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotHereError, match="no EDAC driver"):
        measure(node(tree(tmp_path, "virtual")))
    with pytest.raises(NotHereError, match="no EDAC driver"):
        measure(node(tmp_path / "nothing"))


def test_counters_that_say_nothing_are_a_failure_and_no_health(tmp_path: Path) -> None:
    tree(tmp_path, "gb200")
    (tmp_path / "devices/system/edac/mc/mc0/ce_count").write_text("?")
    with pytest.raises(PermissionError, match="no number"):
        measure(node(tmp_path))


def test_the_log_tells_what_it_prints_if_it_can_be_read(tmp_path: Path) -> None:
    tree(tmp_path, "p4d")
    (tmp_path / "kernel.log").touch()
    assert KernelLog(tmp_path / "kernel.log", tmp_path).told() == ALL
    (tmp_path / "module/edac_core/parameters/edac_mc_log_ce").write_text("0\n")
    assert not KernelLog(tmp_path / "kernel.log", tmp_path).told().corrected
    assert KernelLog(tmp_path / "missing", tmp_path).told() == SILENT


def test_the_real_kernels_log_says_whether_it_reaches_back_to_boot() -> None:
    device = Path("/dev/kmsg")
    try:
        with device.open("rb", buffering=0) as file:
            first = int(file.read(8192).split(b",", 2)[1])
    except OSError as error:
        pytest.skip(f"/dev/kmsg cannot be read here: {error.strerror}")
    assert KernelLog(device, Path("/sys")).told().since_boot is (first == 0)


def _controller(corrected: int, uncorrected: int = 0) -> Controller:
    return Controller(0, corrected, uncorrected, (Module("dimm0", "A1", "channel 0 slot 0", None, None),))
