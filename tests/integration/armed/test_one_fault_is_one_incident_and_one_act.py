"""All shipped policies armed on one run of sixteen nodes: one fault is one act, whoever prints what it did to them."""

import pytest

from policies.contract.events import Component
from policies.contract.rungs import Rung
from policies.contract.vocabulary import ComponentType, Kind, Severity, Source
from policies.coordination.states import IncidentStatus
from tests.tools.armed import NODES, RUN, Fleet, ended, following, hit_by, stalled, well_again
from tests.tools.shipped_host_faults import NODE, rank_log
from tests.tools.shipped_stories import Told, line, polled, xid

SIGHTING_SILENT = polled(Kind.NODE_SILENT, Severity.CRITICAL, component=NODE)
TIMEOUT = (
    "[E1101 10:00:45.123456 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=100, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600023 milliseconds "
    "before timing out."
)
NVLINK = (
    "NVRM: Xid (PCI:0000:4b:00): 74, pid=4024, name=python, NVLink: fatal error detected on link 6"
    "(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"
)
CONTAINED = "pid=4024, name=python, Contained: SM (0x1). RST: No, D-RST: No"
GANG = ("suspend", RUN), ("resume", RUN)


def whole(fleet: Fleet) -> None:
    """Nothing is left undone, and nobody but what a test names was woken."""
    assert not fleet.world.dead_letters
    assert not fleet.world.failed_executions
    assert fleet.unanswered == set()
    assert not fleet.site.stopped.get(RUN)
    assert all(each.status is IncidentStatus.CLOSED for each in fleet.opened)


def test_a_contained_memory_error_ends_its_process_and_the_gang_goes_on_whole() -> None:
    fleet = Fleet()
    fleet.say("i-03", [*xid(94, CONTAINED), *ended(24, 0.4, exit_code=1)])
    fleet.say_everywhere(following, 3, hit_by("i-03"))
    fleet.run(1200)
    assert fleet.done == [("suspend", RUN), ("restart", "i-03"), ("resume", RUN)]
    assert {note.policy for note in fleet.by("xid-94-contained-memory-error").findings} >= {"rank-died"}
    assert fleet.by("rank-died").outcome == "merged"
    assert fleet.pages == []
    whole(fleet)


def test_a_contained_memory_error_that_kills_nobody_ends_one_process_and_stops_nothing() -> None:
    fleet = Fleet()
    fleet.say("i-03", xid(94, CONTAINED))
    fleet.run(600)
    assert fleet.done == [("restart", "i-03")]
    whole(fleet)


def test_a_gpu_that_falls_off_the_bus_costs_its_node_and_no_other() -> None:
    fleet = Fleet()
    fleet.say("i-03", [*xid(79, "GPU has fallen off the bus."), *ended(24, 0.4, exit_code=1)])
    fleet.say_everywhere(following, 3, hit_by("i-03"))
    fleet.run(1800)
    assert fleet.done == [("isolate", "i-03"), ("suspend", RUN), ("replace", "i-03"), ("resume", RUN)]
    assert {each.node.instance_id for each in fleet.opened if each.outcome == "replaced"} == {"i-03"}
    assert fleet.pages == []
    whole(fleet)


def test_all_that_one_double_bit_error_prints_is_one_reset() -> None:
    fleet = Fleet()
    told = [
        *xid(48, "pid=4024, name=python, DBE (double bit error) detected"),
        *xid(63, "Row Remapper: New row marked for remapping, reset gpu to activate", after=0.1),
        *xid(94, CONTAINED, after=0.2),
        *xid(154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)", after=0.5),
        *ended(24, 1, exit_code=1),
    ]
    fleet.say("i-03", told)
    fleet.say_everywhere(following, 3, hit_by("i-03"))
    fleet.run(1200)
    assert fleet.done == [
        ("isolate", "i-03"),
        ("suspend", RUN),
        ("reset", "i-03"),
        ("release", "i-03"),
        ("resume", RUN),
    ]
    assert fleet.by("gpu-recovery-action-reset").outcome == "recovered"
    assert fleet.pages == []
    whole(fleet)


def test_a_reset_that_does_not_help_costs_that_node_and_the_run_goes_on_once() -> None:
    fleet = Fleet(failing={Rung.RESET_GPU: "the GPU does not come back"})
    fleet.say("i-03", [*line(NVLINK), *ended(24, 0.4, exit_code=1)])
    fleet.say_everywhere(following, 3, hit_by("i-03"))
    fleet.run(1800)
    assert fleet.done == [("isolate", "i-03"), ("suspend", RUN), ("replace", "i-03"), ("resume", RUN)]
    whole(fleet)


@pytest.mark.parametrize("before", [45.0, 4.0])
def test_a_link_that_breaks_before_sixteen_healthy_nodes_time_out_is_one_reset(before: float) -> None:
    fleet = Fleet()
    fleet.say("i-03", line(NVLINK))
    fleet.say_everywhere(lambda number: [*rank_log(TIMEOUT), *ended(8 * number, 2, signal="SIGABRT")], before)
    fleet.run(1800)
    assert fleet.done == [
        ("isolate", "i-03"),
        ("suspend", RUN),
        ("reset", "i-03"),
        ("release", "i-03"),
        ("resume", RUN),
    ]
    assert "peer-lost-storm" in fleet.recorded()
    assert fleet.pages == []
    whole(fleet)


def test_a_link_whose_fault_is_told_while_the_run_is_being_stopped_lets_it_go_once_as_well() -> None:
    fleet = Fleet()
    fleet.say_everywhere(lambda number: [*rank_log(TIMEOUT), *ended(8 * number, 2, signal="SIGABRT")], 0)
    fleet.say("i-03", line(NVLINK), 38)
    fleet.run(1800)
    assert fleet.done == [
        ("suspend", RUN),
        ("isolate", "i-03"),
        ("reset", "i-03"),
        ("release", "i-03"),
        ("resume", RUN),
    ]
    whole(fleet)


def test_a_kernel_that_panics_is_fenced_and_its_silence_says_nothing_new() -> None:
    fleet = Fleet(dead={"i-04"})
    fleet.say("i-04", line("Kernel panic - not syncing: Fatal exception in interrupt"))
    fleet.say_everywhere(following, 3, hit_by("i-04"))
    fleet.say("i-04", SIGHTING_SILENT, 155, source=Source.SWEEP)
    fleet.run(1800)
    acts = [("isolate", "i-04"), ("fence", "i-04"), ("suspend", RUN), ("replace", "i-04"), ("resume", RUN)]
    assert fleet.done == acts
    assert {note.policy for note in fleet.by("host-panic").findings} == {"host-panic", "node-silent"}
    assert fleet.pages == []
    whole(fleet)


def test_a_node_that_falls_silent_is_fenced_and_replaced_once_whatever_the_run_did_meanwhile() -> None:
    fleet = Fleet(dead={"i-06"})
    fleet.say_everywhere(lambda number: stalled(8 * number), 120, fleet.alive)
    fleet.say("i-06", SIGHTING_SILENT, 160, source=Source.SWEEP)
    fleet.run(2400)
    assert [act for act in fleet.done if act not in GANG] == [
        ("isolate", "i-06"),
        ("fence", "i-06"),
        ("replace", "i-06"),
    ]
    assert fleet.done[-1] == ("resume", RUN)
    assert fleet.site.times("suspend") == fleet.site.times("resume") <= 2
    whole(fleet)


def test_a_hang_that_all_nodes_tell_is_one_restart_of_the_run() -> None:
    fleet = Fleet()
    fleet.say_everywhere(lambda number: stalled(8 * number, number / 10), 0)
    fleet.run(1200)
    assert fleet.done == list(GANG)
    assert len(fleet.opened) == 1
    assert fleet.pages == []
    whole(fleet)


def test_a_hang_that_ends_by_itself_touches_nothing() -> None:
    fleet = Fleet()
    fleet.say_everywhere(lambda number: stalled(8 * number), 0)
    fleet.say_everywhere(lambda number: well_again(8 * number), 15)
    fleet.run(1200)
    assert fleet.done == []
    assert fleet.by("training-stalled").outcome == "cleared"
    whole(fleet)


def test_a_program_that_runs_out_of_memory_costs_no_node() -> None:
    oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79 GiB"
    fleet = Fleet()
    fleet.say("i-02", [*rank_log(oom), *ended(16, 0.5, exit_code=1)])
    fleet.say_everywhere(following, 3, hit_by("i-02"))
    fleet.run(1200)
    assert fleet.done == list(GANG)
    assert "training-out-of-memory" in fleet.recorded()
    whole(fleet)


def hung(number: int) -> list[Told]:
    part = Component(type=ComponentType.PROCESS, index=4000 + 8 * number)
    return polled(Kind.PROCESS_HUNG, component=part, pid=4000 + 8 * number, state="D")


def test_a_file_server_that_stalls_wakes_one_person_and_stops_no_run_that_goes_on_with_it() -> None:
    fleet = Fleet()
    fleet.say_everywhere(lambda number: line("nfs: server fs-1 not responding, still trying", number / 5), 0)
    fleet.say_everywhere(lambda number: stalled(8 * number, number / 10), 90)
    fleet.say_everywhere(lambda number: line("nfs: server fs-1 OK", number / 5), 420)
    fleet.say_everywhere(lambda number: well_again(8 * number, number / 10), 430)
    fleet.run(3600)
    assert fleet.done == []
    assert fleet.pages == ["shared-storage-stalled"]
    assert fleet.by("training-stalled").outcome == "cleared"
    whole(fleet)


def test_a_hang_that_is_told_before_the_server_that_it_waits_for_waits_as_well() -> None:
    fleet = Fleet()
    fleet.say_everywhere(hung, 0)
    fleet.say("i-00", line("nfs: server fs-1 not responding, still trying"), 20)
    fleet.run(800)
    assert fleet.done == []
    fleet.world.run(1500)  # a quarter of an hour after the server's last sign, and it still hangs
    assert fleet.done == list(GANG)


def test_a_gpu_that_breaks_while_the_server_stalls_waits_for_nothing() -> None:
    fleet = Fleet()
    fleet.say_everywhere(lambda number: line("nfs: server fs-1 not responding, still trying", number / 5), 0)
    fleet.say("i-03", xid(79, "GPU has fallen off the bus."), 60)
    fleet.run(1800)
    assert fleet.done == [("isolate", "i-03"), ("suspend", RUN), ("replace", "i-03"), ("resume", RUN)]
    whole(fleet)


def crash(fleet: Fleet, node: str, at: float, *first: Told) -> None:
    rank = 8 * NODES.index(node)
    fleet.say(node, [*first, *rank_log("ValueError: bad batch 77", 0.2), *ended(rank, 0.5, exit_code=1)], at)
    fleet.say_everywhere(following, at + 3, hit_by(node))


def test_a_program_that_dies_at_one_step_is_started_three_times_and_wakes_a_person_at_the_second() -> None:
    fleet = Fleet()
    for turn, node in enumerate(("i-01", "i-04", "i-09", "i-02")):
        crash(fleet, node, 1800 * turn)
    fleet.run(1790)
    assert fleet.pages == []
    fleet.world.run(3590)
    assert fleet.pages == ["same-step-on-different-hardware"]
    fleet.world.run(9000)
    assert [act for act in fleet.done if act not in GANG] == []
    assert fleet.site.times("resume") == 3
    assert fleet.pages == ["same-step-on-different-hardware", "training-crash-loop", "rank-died"]


def test_the_second_node_that_breaks_at_one_step_is_kept_and_the_run_stays_down_until_somebody_looks() -> None:
    fleet = Fleet()
    for turn, node in enumerate(("i-01", "i-04")):
        crash(fleet, node, 2400 * turn, *xid(79, "GPU has fallen off the bus."))
    fleet.run(6000)
    assert fleet.done == [("isolate", "i-01"), ("suspend", RUN), ("replace", "i-01"), ("resume", RUN)]
    assert fleet.pages.count("xid-79-fell-off-the-bus") == 1
    (kept,) = [each for each in fleet.opened if each.status is IncidentStatus.PARKED]
    assert (kept.node.instance_id, kept.acted) == ("i-04", False)


def test_two_nodes_that_break_at_two_steps_are_both_replaced() -> None:
    fleet = Fleet()
    crash(fleet, "i-01", 0, *xid(79, "GPU has fallen off the bus."))
    fleet.run(2390)
    fleet.step = 1710
    crash(fleet, "i-04", 2400, *xid(79, "GPU has fallen off the bus."))
    fleet.run(6000)
    assert fleet.site.times("replace") == 2
    whole(fleet)
