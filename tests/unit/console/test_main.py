import argparse
import os
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TextIO

import pytest

from console import main as console


def test_help_shows_examples_and_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        console.main(["--help"])
    shown = capsys.readouterr().out
    assert stopped.value.code == 0
    assert "examples:\n  relight demo " in shown
    assert all(name in shown for name in console.COMMANDS)


def test_version_is_the_installed_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        console.main(["--version"])
    assert (stopped.value.code, capsys.readouterr().out) == (0, f"relight {version('relight')}\n")


def test_no_command_shows_the_help_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert console.main([]) == 2
    assert "examples:" in capsys.readouterr().out


@pytest.mark.parametrize(("closed", "words"), [("stderr", ["repair"]), ("stdout", ["repair"]), ("stdout", [])])
def test_what_is_said_goes_nowhere_else_when_its_stream_is_closed(
    closed: str, words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, closed, None)  # so Python finds it behind `2>&-` and `>&-`
    assert console.main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert ("no command" in shown.err) == (closed == "stdout" and bool(words))
    getattr(sys, closed).close()


def test_an_unknown_command_exits_2_and_says_what_to_do_next(capsys: pytest.CaptureFixture[str]) -> None:
    assert console.main(["repair", "--now"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "no command 'repair'" in shown.err
    assert "Run `relight --help`" in shown.err


class _Greet(ModuleType):
    """Greet a node."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--times", type=int, default=1)
        parser.add_argument("node")

    def run(self, args: argparse.Namespace) -> int:
        print("hello", *[args.node] * args.times)
        return 7


@pytest.fixture
def greet(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(console.COMMANDS, "greet", "console.commands.greet")
    monkeypatch.setitem(sys.modules, "console.commands.greet", _Greet("console.commands.greet"))
    return "greet"


def test_a_command_gets_its_own_words_and_gives_the_exit_status(greet: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert console.main([greet, "node-7", "--times", "2"]) == 7
    assert capsys.readouterr().out == "hello node-7 node-7\n"


def test_an_option_of_a_command_is_not_taken_for_one_of_relight(greet: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        console.main([greet, "--help"])
    assert stopped.value.code == 0
    assert "usage: relight greet" in capsys.readouterr().out


def test_every_command_named_is_there_and_whole() -> None:
    for name, module in console.COMMANDS.items():
        command = console.load(name)
        assert module == f"console.commands.{name.replace('-', '_')}"
        assert callable(command.add_arguments)
        assert callable(command.run)
        assert command.__doc__, f"{module} has no docstring to show in its help"


@pytest.mark.parametrize(("missing", "is_ours"), [("no_such_package.of_somebody", False), ("console.gone", True)])
def test_a_package_that_only_the_repository_has_is_named(
    greet: str, missing: str, *, is_ours: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_self: _Greet, _args: argparse.Namespace) -> int:
        raise ModuleNotFoundError(name=missing)

    monkeypatch.setattr(_Greet, "run", run)
    if is_ours:
        with pytest.raises(ModuleNotFoundError):
            console.main([greet, "node-7"])
        return
    assert console.main([greet, "node-7"]) == 1
    assert f"relight greet: '{missing}' is not installed here" in capsys.readouterr().err


def open_pipe_without_a_reader(monkeypatch: pytest.MonkeyPatch) -> TextIO:
    reads, writes = os.pipe()
    os.close(reads)
    stream = os.fdopen(writes, "w")
    monkeypatch.setattr(sys, "stdout", stream)
    return stream


@pytest.mark.parametrize("words", [["greet", "node-7"], ["greet", "--help"], ["--help"], []])
def test_a_reader_who_has_seen_enough_is_no_failure_to_show(
    greet: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert greet
    stream = open_pipe_without_a_reader(monkeypatch)
    assert console.main(words) == 141
    stream.close()  # the interpreter does it at its end, and would tell of it
    assert capsys.readouterr().err == ""


def test_a_command_that_prints_more_than_a_pipe_holds_ends_when_nobody_reads(
    greet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = open_pipe_without_a_reader(monkeypatch)
    assert console.main([greet, "node-7" * 40_000]) == 141
    stream.close()


def test_another_pipe_that_breaks_is_a_failure(greet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_self: _Greet, _args: argparse.Namespace) -> int:
        raise BrokenPipeError(32, "the agent's socket")

    monkeypatch.setattr(_Greet, "run", run)
    reads, writes = os.pipe()
    with os.fdopen(reads), os.fdopen(writes, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(BrokenPipeError):
            console.main([greet, "node-7"])


def test_ctrl_c_is_no_traceback(
    greet: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_self: _Greet, _args: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(_Greet, "run", run)
    assert console.main([greet, "node-7"]) == 130
    assert (
        capsys.readouterr().err == "\nrelight: stopped. What was done so far stays. To go on: `relight greet node-7`.\n"
    )


@pytest.mark.parametrize("name", ["there/is/no/such", "9" * 5000], ids=["missing", "too long"])
def test_a_file_that_cannot_be_had_is_named(
    greet: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_Greet, "run", lambda _self, _args: len(list(Path(name).iterdir())))
    assert console.main([greet, "node-7"]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"relight greet: {name[:200]}")
    assert told.endswith((": No such file or directory.\n", ": File name too long.\n"))
    assert len(told) < 300


def test_what_is_no_file_of_a_person_stays_a_defect(greet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_self: _Greet, _args: argparse.Namespace) -> int:
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(_Greet, "run", run)
    with pytest.raises(ConnectionRefusedError):
        console.main([greet, "node-7"])
