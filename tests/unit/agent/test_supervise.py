import json
import logging
import threading
import time

import pytest

from agent import supervise
from agent.logs import JsonFormatter
from agent.vitals import Vitals
from tests.tools.sources import eventually


def test_a_source_that_fails_is_begun_again_and_stops_when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "_FIRST_SECONDS", 0.001)
    stop = threading.Event()
    tries: list[int] = []

    def run(stop: threading.Event) -> None:
        tries.append(len(tries))
        if len(tries) == 1:
            raise OSError(13, "Permission denied")
        if len(tries) == 2:
            msg = "a bug"
            raise ValueError(msg)
        stop.wait()

    thread = supervise.start("kernel_log", run, stop, Vitals(time.monotonic))
    while len(tries) < 3:
        assert thread.is_alive()
    stop.set()
    thread.join(60)
    assert not thread.is_alive()
    assert tries == [0, 1, 2]


def test_the_same_failure_is_said_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(supervise, "_FIRST_SECONDS", 0.001)
    stop = threading.Event()
    tries: list[int] = []

    def run(stop: threading.Event) -> None:
        tries.append(len(tries))
        if len(tries) == 5:
            stop.set()
        raise OSError(13, "Permission denied", "one" if len(tries) < 4 else "other")

    supervise.start("kernel_log", run, stop, Vitals(time.monotonic)).join(60)
    assert len(tries) == 5
    assert [record.message for record in caplog.records] == ["source cannot be read"] * 2


def test_a_source_that_never_failed_costs_no_second_thread() -> None:
    stop, named = threading.Event(), threading.Event()

    def run(stop: threading.Event) -> None:
        named.set()
        stop.wait(60)

    before = set(threading.enumerate())
    thread = supervise.start("kernel_log", run, stop, Vitals(time.monotonic))
    assert named.wait(60)
    assert set(threading.enumerate()) - before == {thread}
    stop.set()
    thread.join(5)


def test_a_log_line_is_one_json_object_with_what_was_given() -> None:
    record = logging.makeLogRecord(
        {"name": "agent", "levelname": "WARNING", "msg": "lane %s", "args": ("x",), "tries": 3, "created": 0.5}
    )
    assert json.loads(JsonFormatter().format(record)) == {
        "at": "1970-01-01T00:00:00.500000Z",
        "level": "warning",
        "logger": "agent",
        "message": "lane x",
        "tries": 3,
    }


def test_a_source_that_keeps_failing_is_never_shown_as_running_and_one_that_goes_on_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervise, "_FIRST_SECONDS", 0.001)
    monkeypatch.setattr(supervise, "_GOES_ON_SECONDS", 600.0)
    stop, vitals = threading.Event(), Vitals(time.monotonic)
    states: list[str] = []

    def run(stop: threading.Event) -> None:
        states.append(vitals.all()[0].state)
        if len(states) == 4:
            monkeypatch.setattr(supervise, "_GOES_ON_SECONDS", 0.01)  # the next goes on for longer
        if len(states) < 5:
            raise OSError(13, "Permission denied")
        stop.wait(60)

    thread = supervise.start("kernel_log", run, stop, vitals)
    eventually(lambda: len(states) == 5 and vitals.all()[0].state == "running")
    stop.set()
    thread.join(5)
    assert states[:4] == ["running", "failing", "failing", "failing"]
