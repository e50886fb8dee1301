"""What is printed fits the terminal, and in a pipe or a file no line is broken and no figure cut."""

import os
import re
import sys
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from console.terminal import LEAST, paragraph, print_figures, terminal

LONG = "a word and another " * 40
Shown = pytest.CaptureFixture[str]


def test_a_pipe_has_no_width(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    out = terminal()
    out.print(LONG)
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert paragraph(out, LONG.strip()) == LONG.strip()


@pytest.mark.parametrize("columns", [1, 40, 80, 300])
def test_text_fits_into_the_columns_there_are(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = paragraph(terminal(), LONG, "new      ", "  ").splitlines()
    assert all(len(line) <= max(columns, LEAST) for line in lines)
    assert lines[0].startswith("new      a word")
    assert all(line.startswith("  ") for line in lines[1:])


@pytest.mark.parametrize("columns", ["1", "40", "80", "300"])
def test_no_figure_is_cut(columns: str, monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    table = Table(box=None, pad_edge=False)
    figures = [str(10**power) for power in range(12)]
    for figure in figures:
        table.add_column(f"of {figure}", justify="right", no_wrap=True)
    table.add_row(*figures)
    print_figures(terminal(), table)
    shown = capsys.readouterr().out
    assert set(figures) <= set(shown.split())
    assert "…" not in shown


def test_a_reader_of_a_table_who_has_seen_enough_is_told_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(BrokenPipeError):
            terminal().print(Table("a", "b"))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def test_all_screens_print_to_this_one() -> None:
    console = Path(__file__).parents[3] / "console"
    own = [file for file in console.rglob("*.py") if "Console(" in file.read_text() and file.name != "terminal.py"]
    assert [file.relative_to(console).as_posix() for file in own] == ["backtest/running.py"], "its bar is no answer"


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_line_of_a_log_drives_no_terminal(
    is_terminal: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Shown,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    if is_terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    hostile = "a\x1b[2Jb\x1b]0;title\x07c\x9b31md\re\x00f\nsecond line"
    table = Table("name")
    table.add_row(Text(hostile, style="red"))
    out = terminal(highlight=False)
    out.print(Text(hostile, style="red"))
    out.print(table)
    shown = capsys.readouterr().out
    assert not re.findall(r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x7f-\x9f]", shown), "but the colours that are ours"
    assert is_terminal == ("\x1b[31m" in shown)
    assert "second line" in shown
    assert shown.count("[2Jb") == 2
