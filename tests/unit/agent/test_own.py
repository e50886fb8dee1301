import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from agent.own import OwnWork, Provoking
from agent.parsers.sighting import Sighting
from agent.polls.reading import Instant, Memory, Reading
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Severity
from tests.tools.agent_events import START, ManualClock


def said(kind: Kind = Kind.GPU_XID, **attributes: Scalar) -> Sighting:
    return Sighting(kind, Severity.ERROR, None, attributes)


@pytest.mark.parametrize("xid", [13, 31, 43, 45])
def test_what_our_own_process_did_is_no_fault_of_the_gpu(xid: int) -> None:
    own = OwnWork(ManualClock(), lambda: 4711)
    assert own.caused(said(xid=xid, pid=os.getpid()), START)
    assert own.caused(said(xid=xid, pid=4711), START)
    assert not own.caused(said(xid=xid, pid=os.getppid()), START)
    assert not own.caused(said(xid=xid), START)


@pytest.mark.parametrize("xid", [79, 48, 62, 74, 94, 95, 119, 120, 154])
def test_what_is_broken_is_told_whoever_asked(xid: int) -> None:
    own = OwnWork(ManualClock(), lambda: 4711)
    with own.doing(Kind.NETWORK_REGISTER_ACCESS_FAILED):
        assert not own.caused(said(xid=xid, pid=4711), START)


@pytest.mark.parametrize("kind", [Kind.HOST_HUNG_TASK, Kind.HOST_OOM_KILL, Kind.GPU_INIT_FAILED, Kind.GPU_LOST])
def test_no_other_kind_is_ours_because_it_names_us(kind: Kind) -> None:
    assert not OwnWork(ManualClock()).caused(said(kind, pid=os.getpid()), START)


def test_a_crash_of_our_own_prober_is_ours() -> None:
    own = OwnWork(ManualClock(), lambda: 4711)
    assert own.caused(said(Kind.PROCESS_SEGFAULT, pid=4711), START)
    assert not own.caused(said(Kind.PROCESS_SEGFAULT, pid=4712), START)


def test_reading_provokes_a_complaint_only_while_we_read() -> None:
    clock = ManualClock()
    own = OwnWork(clock)
    complaint = said(Kind.NETWORK_REGISTER_ACCESS_FAILED)
    with own.doing(Kind.NETWORK_REGISTER_ACCESS_FAILED):
        assert own.caused(complaint, START)
        assert not own.caused(complaint, START - timedelta(minutes=1))
        assert not own.caused(said(Kind.NETWORK_LINK_DOWN), START)
        clock.now = START + timedelta(seconds=30)
    assert own.caused(complaint, START + timedelta(seconds=31))
    assert not own.caused(complaint, START + timedelta(seconds=40))


def test_what_a_program_of_ours_began_is_ours_while_it_runs() -> None:
    own = OwnWork(ManualClock())
    with own.doing() as began:
        words = ["sh", "-c", "sleep 60 & echo $!; wait"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True) as program:
            began(program.pid)
            assert program.stdout is not None
            child = int(program.stdout.readline())
            assert own.caused(said(xid=31, pid=program.pid), START)
            assert own.caused(said(xid=31, pid=child), START)
            assert not own.caused(said(xid=119, pid=child), START)
            os.killpg(program.pid, 9)


def test_a_poll_that_provokes_a_complaint_is_known_by_when_it_ran() -> None:
    clock = ManualClock()
    own = OwnWork(clock)

    class Reads:
        def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
            clock.advance(1)
            return []

    polling = Provoking(Reads(), own, [Kind.NETWORK_REGISTER_ACCESS_FAILED])
    assert polling.measure({}, Instant(START, 0.0)) == []
    complaint = said(Kind.NETWORK_REGISTER_ACCESS_FAILED)
    assert own.caused(complaint, START + timedelta(seconds=0.5))
    assert not own.caused(complaint, START + timedelta(seconds=5))


def test_what_is_remembered_is_bounded() -> None:
    own = OwnWork(ManualClock())
    for _ in range(1000):
        with own.doing(Kind.NETWORK_REGISTER_ACCESS_FAILED):
            pass
    assert len(own._works) <= 64


def test_a_thread_of_our_prober_that_hangs_with_what_it_asks_is_no_fault_of_its_own() -> None:
    script = "import threading, sys; threading.Thread(target=sys.stdin.read).start(); print(flush=True)"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as prober:
        assert prober.stdout is not None
        prober.stdout.readline()
        threads = [int(path.name) for path in Path(f"/proc/{prober.pid}/task").iterdir()]
        assert len(threads) == 2
        own = OwnWork(ManualClock(), lambda: prober.pid)
        assert all(own.caused(said(Kind.HOST_HUNG_TASK, pid=thread), START) for thread in threads)
        assert not own.caused(said(Kind.HOST_HUNG_TASK, pid=threading.get_native_id()), START)
        assert not own.caused(said(Kind.HOST_HUNG_TASK, pid=os.getppid()), START)
        prober.kill()
