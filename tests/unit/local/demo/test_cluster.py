"""A world that ends, or that could not be built: what is heard before its parts are taken down."""

from collections.abc import Callable
from pathlib import Path

import pytest

from local.demo.clues import Clues
from local.demo.cluster import LocalCluster


class Fragile(LocalCluster):
    """Its one part writes into a log as it is taken down, as a worker that is killed in mid-call does."""

    def __init__(self, data_dir: Path, on_end: Callable[[], None], *, breaks: bool) -> None:
        super().__init__(data_dir, on_end=on_end)
        self._breaks = breaks
        self._log = data_dir / "aws" / "logs" / "Guard.log"
        self._log.parent.mkdir(parents=True)
        self._log.write_text("START RequestId: 1\nEND RequestId: 1\n")

    def _build(self) -> None:
        self._stack.callback(self._log.write_text, "Runtime.ExitError RequestId: 2 Error: Runtime exited\n")
        if self._breaks:
            self._log.write_text("ValueError: a real one\n")
            raise OSError


def test_what_its_parts_write_as_they_are_taken_down_is_no_clue(tmp_path: Path) -> None:
    clues = Clues(tmp_path)
    with Fragile(tmp_path, clues.take, breaks=False):
        pass
    assert "ExitError" in (tmp_path / "aws/logs/Guard.log").read_text()
    assert clues.found() == []


def test_an_error_from_before_the_end_is_a_clue_though_the_end_wrote_over_it(tmp_path: Path) -> None:
    clues = Clues(tmp_path)
    with pytest.raises(OSError), Fragile(tmp_path, clues.take, breaks=True):  # noqa: PT011 - any will do
        pass
    assert clues.found() == ["aws/logs/Guard.log: ValueError: a real one"]


def test_all_of_it_is_taken_down_though_the_clues_cannot_be_read(tmp_path: Path) -> None:
    def unreadable() -> None:
        raise PermissionError

    with pytest.raises(PermissionError), Fragile(tmp_path, unreadable, breaks=False):
        pass
    assert "ExitError" in (tmp_path / "aws/logs/Guard.log").read_text()
