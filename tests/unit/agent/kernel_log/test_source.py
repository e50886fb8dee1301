import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from agent.events import EventMaker
from agent.kernel_log.source import KernelLogSource, LogSettings
from agent.main import utc_now
from agent.spool.spool import Spool
from policies.contract.events import JobRef
from policies.contract.vocabulary import Source
from tests.tools.sources import NODE, eventually, following, started, waiting


class Station:
    """A log, a spool and a source between them, which live as long as the test says."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "kernel.log"
        self.log.touch()
        self.folder = folder / "spool"
        self.job: JobRef | None = None

    def write(self, *lines: str) -> None:
        with self.log.open("a") as file:
            file.write("".join(f"{line}\n" for line in lines))

    def running(self, start: str = "auto") -> AbstractContextManager[Spool]:
        def begin(spool: Spool, stop: threading.Event) -> threading.Thread:
            maker = EventMaker(NODE, Source.KERNEL_LOG, lambda _seen: self.job)
            return started(KernelLogSource(LogSettings(self.log, "b", start), spool, maker, clock=utc_now).run, stop)

        return following(self.folder, begin)


@pytest.fixture
def station(tmp_path: Path) -> Station:
    return Station(tmp_path)


def xid(seconds: float, code: int = 79, pci: str = "4b") -> str:
    return f"3,1,{int(seconds * 1_000_000)},-;NVRM: Xid (PCI:0000:{pci}:00): {code}, pid=1, name=python"


def test_a_line_becomes_an_event_with_job_and_message(station: Station) -> None:
    station.job = JobRef(id="ns/run", step=7)
    with station.running() as spool:
        station.write("6,1,2,-;something else", xid(1))
        eventually(lambda: spool.waiting == 1)
        (event,) = waiting(spool)
    assert event["kind"] == "gpu.xid"
    assert event["source"] == "kernel_log"
    assert event["job"] == {"id": "ns/run", "step": 7}
    assert event["component"] == {"type": "gpu", "pci": "0000:4b:00"}
    assert event["message"] == "NVRM: Xid (PCI:0000:4b:00): 79, pid=1, name=python"


def test_a_burst_is_two_events_and_a_stop_tells_the_second(station: Station) -> None:
    with station.running() as spool:
        station.write(*(xid(1 + number / 100) for number in range(50)))
        eventually(lambda: spool.waiting == 1)
    with station.running() as spool:
        assert [event["count"] for event in waiting(spool)] == [1, 49]


def test_a_quiet_log_still_tells_the_delta_when_its_window_is_over(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.coalesce.WINDOW_MICROSECONDS", 100_000)
    with station.running() as spool:
        station.write(xid(1), xid(1.01), xid(1.02))
        eventually(lambda: spool.waiting == 2)
        assert [event["count"] for event in waiting(spool)] == [1, 2]


def test_a_restart_tells_nothing_twice_and_goes_on(station: Station) -> None:
    with station.running() as spool:
        station.write(xid(1))
        eventually(lambda: spool.waiting == 1)
    station.write(xid(2, code=48))
    with station.running() as spool:
        eventually(lambda: spool.waiting == 2)
        time.sleep(0.05)
        events = waiting(spool)
    assert [event["attributes"]["xid"] for event in events] == [79, 48]
    assert len({event["id"] for event in events}) == 2


def test_a_truncated_log_is_told_as_a_gap(station: Station) -> None:
    with station.running() as spool:
        station.write(xid(1), xid(2, code=48))
        eventually(lambda: spool.waiting == 2)
        station.log.write_text("")
        eventually(lambda: spool.waiting == 3)
        gap = waiting(spool)[2]
    assert (gap["kind"], gap["source"], gap["attributes"]) == (
        "pipeline.gap",
        "agent",
        {"reason": "truncated", "of": "kernel_log"},
    )


def test_a_line_of_five_megabytes_is_cut_flagged_and_stops_nothing(station: Station) -> None:
    with station.running() as spool:
        station.write(xid(1) + ", " + "x" * 5_000_000, xid(2, code=48))
        eventually(lambda: spool.waiting == 2)
        long, after = waiting(spool)
    assert long["attributes"]["truncated"] is True
    assert len(long["message"].encode()) == 2048
    assert after["attributes"] == {"xid": 48, "pid": 1, "process": "python", "occurrence": "memory:0000:4b:00"}


def test_a_record_that_claims_a_thousand_faults_is_believed_a_few(station: Station) -> None:
    text = "\\x0a".join(f"NVRM: Xid (PCI:0000:{number % 256:02x}:00): 79, x" for number in range(250))
    with station.running() as spool:
        station.write(f"3,1,5,-;{text}")
        eventually(lambda: spool.waiting > 0)
        assert spool.waiting == 8
        assert len({event["id"] for event in waiting(spool)}) == 8


@pytest.mark.parametrize(
    ("line", "start", "expected"),
    [
        (xid(1), "auto", 1),  # says when since boot
        ("Jan 21 11:18:36 host kernel: NVRM: Xid (PCI:0000:4b:00): 79, x", "auto", 0),
        ("Jan 21 11:18:36 host kernel: NVRM: Xid (PCI:0000:4b:00): 79, x", "beginning", 1),
        (xid(1), "end", 0),
    ],
)
def test_where_a_log_is_read_from_the_first_time(station: Station, line: str, start: str, expected: int) -> None:
    station.write(line)
    with station.running(start) as spool:
        eventually(lambda: spool.progress("kernel_log") is not None)  # where it begins is settled
        station.write(xid(100, code=48))
        eventually(lambda: spool.waiting == expected + 1)
