"""Who waits for AWS is told so after some seconds, and what nobody knows when no answer comes at all."""

import argparse
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from console.aws import CONNECT_SECONDS, READ_SECONDS, TRIES
from console.going_on import to_see
from console.main import load, main
from console.patience import PATIENCE_SECONDS, Patience, aloud
from tests.tools.strangers import address_of, silence

LONG = 60.0
STOP = ("policy", "stop", "--reason", "3 am", "--table", "t")
LIST = ("policy", "list", "--table", "t")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Told:
    """Lines, and a way to wait for the next."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.came = threading.Event()

    def __call__(self, line: str) -> None:
        self.lines.append(line)
        self.came.set()


def test_who_waits_is_told_once() -> None:
    told = Told()
    patience = Patience(told, seconds=0.01, again=LONG)
    patience.begins(1, "DynamoDB in eu-central-1")
    patience.begins(2, "SQS in eu-central-1")
    assert told.came.wait(LONG)
    assert told.lines == ["waiting for DynamoDB in eu-central-1 …; Ctrl-C ends it"]


def test_what_is_answered_in_time_is_not_told() -> None:
    told, clock = Told(), Clock()
    patience = Patience(told, clock=clock, again=LONG)
    patience.begins(1, "DynamoDB")
    patience.ends(1)
    clock.now = PATIENCE_SECONDS + 1
    patience.begins(2, "SQS")
    clock.now += PATIENCE_SECONDS
    patience.begins(3, "EC2")
    assert told.came.wait(LONG)
    assert told.lines[0] == "waiting for SQS …; Ctrl-C ends it"


def test_no_call_of_a_person_takes_longer_than_a_person_waits() -> None:
    backs_off = sum(min(2.0**tries, 20.0) for tries in range(TRIES - 1))  # botocore's standard mode, at the most
    assert TRIES * (CONNECT_SECONDS + READ_SECONDS) + backs_off <= 40
    assert TRIES * READ_SECONDS + backs_off <= 30, "of an endpoint that accepts and never answers"
    assert CONNECT_SECONDS <= 5


@pytest.fixture(autouse=True)
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_REGION": "eu-central-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("console.aws.TRIES", 1)
    monkeypatch.setattr("console.aws.READ_SECONDS", LONG)
    monkeypatch.chdir(tmp_path)


@contextmanager
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Told]:
    """Nobody answers, until the person was told that it is waited for; then the connection is lost."""
    with silence() as listening:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address_of(listening))
        told = _Ending(listening)
        monkeypatch.setattr("console.patience.PATIENCE", Patience(told, seconds=0.01, again=LONG))
        yield told


class _Ending(Told):
    def __init__(self, listening: socket.socket) -> None:
        super().__init__()
        self.listening = listening

    def __call__(self, line: str) -> None:
        super().__call__(line)
        taken, _ = self.listening.accept()  # which has been sent by now, or is lost all the same
        taken.recv(1)
        taken.close()


@pytest.mark.parametrize("json_too", [(), ("--json",)], ids=["for people", "for machines"])
def test_a_write_whose_answer_is_lost_is_unknown_and_it_says_how_to_see(
    json_too: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with silent(monkeypatch) as told:
        assert main([*STOP, *json_too]) == 1
    assert told.lines == ["waiting for DynamoDB in eu-central-1 …; Ctrl-C ends it"]
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "no answer came" in shown.err
    assert "whether it was written is unknown" in shown.err
    assert "`relight policy list` says NOTHING ACTS once it is so" in shown.err
    assert "nothing was lost" not in shown.err


def test_a_look_whose_answer_is_lost_is_looked_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with silent(monkeypatch):
        assert main(LIST) == 1
    assert "unknown" not in (shown := capsys.readouterr().err)
    assert "Run it again" in shown


def test_what_was_never_sent_is_not_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert main(STOP) == 1
    assert "unknown" not in capsys.readouterr().err


def test_the_line_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    aloud("waiting for SQS …")
    assert capsys.readouterr() == ("", "relight: waiting for SQS …\n")


WRITES: dict[str, Any] = {
    "policy": ("stop", "start", "set-mode NAME off", "rollback NAME", "push"),
    "incident": ("approve 4be1", "deny 4be1 --reason x", "close 4be1 --reason x", "verdict 4be1 healthy"),
    "node": ("run i-0abc collect_evidence", "maintenance i-0abc"),
    "dlq": ("redrive rejects",),
}


def test_of_everything_that_writes_there_is_a_way_to_see() -> None:
    for name, asked in WRITES.items():
        parser = argparse.ArgumentParser()
        load(name).add_arguments(parser)
        for words in asked:
            see = to_see(parser.parse_args(words.split()))
            assert see.startswith("`relight "), words
            assert "{" not in see, words
