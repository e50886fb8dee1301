import json
import logging
import os
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pytest

from agent.events import EventMaker
from agent.journal.child import JournalChild, command
from agent.journal.source import JournalSettings, JournalSource
from agent.main import utc_now
from agent.spool.spool import Spool
from agent.supervise import start
from agent.vitals import Vitals
from policies.contract.vocabulary import Source
from tests.tools.sources import NODE, eventually, following, waiting

PROGRAM = Path(__file__).parents[3] / "tools" / "journalctl.py"
OOM = 'level=info msg="TaskOOM event container_id:\\"{:012x}\\""'


class Journal:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal"
        self.path.touch()
        self.folder = folder / "spool"

    def say(self, text: str, **fields: object) -> None:
        self.write(json.dumps({"MESSAGE": text, **fields}))

    def write(self, line: str) -> None:
        with self.path.open("a") as file:
            file.write(f"{line}\n")

    def running(self, program: str = str(PROGRAM)) -> AbstractContextManager[Spool]:
        def begin(spool: Spool, stop: threading.Event) -> threading.Thread:
            maker = EventMaker(NODE, Source.JOURNAL, lambda _seen: None)
            settings = JournalSettings(("containerd.service",), "b", program)
            return start(
                "journal", JournalSource(settings, spool, maker, clock=utc_now).run, stop, Vitals(time.monotonic)
            )

        return following(self.folder, begin)


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    made = Journal(tmp_path)
    monkeypatch.setenv("JOURNAL_FILE", str(made.path))
    monkeypatch.setattr("agent.supervise._FIRST_SECONDS", 0.02)
    return made


def children() -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        with suppress(OSError):  # a thread that has ended meanwhile
            found += [int(pid) for pid in task.read_text().split()]
    return found


def test_the_units_what_the_manager_says_of_them_and_what_was_left_out_are_asked_for() -> None:
    words = command(["kubelet.service"], "s=1")
    assert words[words.index("--cursor=s=1") + 1 :] == [
        "_SYSTEMD_UNIT=kubelet.service",
        "+",
        "_PID=1",
        "UNIT=kubelet.service",
        "+",
        "_TRANSPORT=driver",
    ]
    assert "--boot" in command([], None)


def test_an_entry_becomes_an_event_at_its_own_time(journal: Journal) -> None:
    with journal.running() as spool:
        journal.say("something else")
        journal.say(OOM.format(1), __REALTIME_TIMESTAMP="1769846400000000")
        eventually(lambda: spool.waiting == 1)
        (event,) = waiting(spool)
    assert (event["kind"], event["source"]) == ("container.oom_kill", "journal")
    assert event["observed_at"] == "2026-01-31T08:00:00.000000Z"


def test_a_restart_tells_nothing_twice_and_misses_nothing(journal: Journal) -> None:
    with journal.running() as spool:
        journal.say(OOM.format(1))
        eventually(lambda: spool.waiting == 1)
    journal.say(
        "containerd.service: Main process exited, code=killed, status=9/KILL", UNIT="containerd.service", _PID="1"
    )
    with journal.running() as spool:
        eventually(lambda: spool.waiting == 2)
        time.sleep(0.05)
        events = waiting(spool)
    assert [event["kind"] for event in events] == ["container.oom_kill", "container.runtime_down"]


def test_a_child_that_dies_is_started_again_where_it_was(journal: Journal) -> None:
    with journal.running() as spool:
        journal.say(OOM.format(1))
        eventually(lambda: spool.waiting == 1)
        for pid in children():
            if b"journalctl" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, 9)
        journal.say('level=fatal msg="cannot go on"')
        eventually(lambda: spool.waiting == 2)
        assert [event["kind"] for event in waiting(spool)] == ["container.oom_kill", "container.runtime_down"]


def test_a_stop_leaves_no_child_behind(journal: Journal) -> None:
    before = set(children())
    with journal.running() as spool:
        journal.say(OOM.format(1))
        eventually(lambda: spool.waiting == 1)
        assert set(children()) - before
    assert set(children()) - before == set()


def test_an_entry_that_is_gone_is_a_gap(journal: Journal) -> None:
    with journal.running() as spool:
        journal.say(OOM.format(1))
        eventually(lambda: spool.waiting == 1)
    journal.say(OOM.format(2))
    journal.say('level=fatal msg="x"')
    journal.path.with_name("journal.first").write_text("3")
    with journal.running() as spool:
        eventually(lambda: spool.waiting == 3)
        _, gap, after = waiting(spool)
    assert (gap["kind"], gap["attributes"]) == ("pipeline.gap", {"reason": "vacuumed", "of": "journal"})
    assert after["kind"] == "container.runtime_down"


def test_what_journald_suppressed_is_a_gap_with_its_number(journal: Journal) -> None:
    with journal.running() as spool:
        journal.say(
            "Suppressed 4711 messages from kubelet.service",
            _TRANSPORT="driver",
            SYSLOG_IDENTIFIER="systemd-journald",
            _SYSTEMD_UNIT="systemd-journald.service",
        )
        eventually(lambda: spool.waiting == 1)
        (gap,) = waiting(spool)
    assert gap["kind"] == "pipeline.gap"
    assert gap["attributes"] == {"reason": "rate_limited", "of": "journal", "lost": 4711, "by": "kubelet.service"}


def test_what_is_no_entry_is_a_gap_of_one_and_stops_nothing(journal: Journal) -> None:
    with journal.running() as spool:
        journal.say("x" * 200_000)
        journal.say("bytes", MESSAGE=list(OOM.format(3).encode()))
        eventually(lambda: spool.waiting == 2)
        gap, event = waiting(spool)
    assert gap["attributes"] == {"reason": "unreadable", "of": "journal", "lost": 1}
    assert event["kind"] == "container.oom_kill"


def test_words_of_a_container_and_of_an_earlier_boot_are_told_apart(journal: Journal) -> None:
    with journal.running() as spool:
        journal.say(OOM.format(4), CONTAINER_ID="3f0c")
        journal.say(OOM.format(5), _BOOT_ID="c" * 32)
        eventually(lambda: spool.waiting == 1)
        (event,) = waiting(spool)
    assert event["attributes"]["before_boot"] is True


def test_no_journalctl_is_said_once_and_stops_nothing(
    journal: Journal, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.journal.source._LOOK_AGAIN_SECONDS", 0.01)
    tries: list[Sequence[str]] = []

    def counted(words: Sequence[str]) -> JournalChild:
        tries.append(words)
        return JournalChild(words)

    monkeypatch.setattr("agent.journal.source.JournalChild", counted)
    with caplog.at_level(logging.WARNING), journal.running("/nowhere/journalctl") as spool:
        eventually(lambda: len(tries) > 3)
        assert spool.waiting == 0
    assert [record.message for record in caplog.records] == ["no journalctl here: what services say is not read"]
