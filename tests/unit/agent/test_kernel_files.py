"""Reads of /sys and /proc: nothing there, nothing readable, nothing that ends."""

import os
from pathlib import Path

import pytest

from agent.kernel_files import PAGE, Unread, entries, link_name, names, read_number, read_or_empty, read_text, read_word


def test_what_is_not_there_is_none_and_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    assert read_text(tmp_path / "none") is None
    assert read_text(tmp_path / "none" / "below") is None
    with pytest.raises(IsADirectoryError):
        read_text(tmp_path)
    assert (read_word(tmp_path), read_or_empty(tmp_path)) == (None, "")
    assert isinstance(read_number(tmp_path), Unread)


def test_no_writer_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_text(tmp_path / "pipe") == ""


def test_a_page_is_read_and_no_more_unless_asked(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("x" * (3 * PAGE))
    assert len(read_text(tmp_path / "long") or "") == PAGE
    assert len(read_or_empty(tmp_path / "long", 2 * PAGE)) == 2 * PAGE


@pytest.mark.parametrize(("text", "number"), [("7\n", 7), ("0x10", 16), ("0", 0)])
def test_numbers_are_decimal_or_hexadecimal(tmp_path: Path, text: str, number: int) -> None:
    (tmp_path / "n").write_text(text)
    assert read_number(tmp_path / "n") == number


@pytest.mark.parametrize("text", ["", "N/A (no hardware)", "-1"])
def test_what_is_no_count_is_no_number(tmp_path: Path, text: str) -> None:
    (tmp_path / "n").write_text(text)
    assert isinstance(read_number(tmp_path / "n"), Unread)


def test_a_folder_is_listed_sorted_or_as_it_comes_and_never_too_long(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / name).touch()
    assert entries(tmp_path) == ["a", "b", "c"]
    assert len(list(names(tmp_path, 2))) == 2
    assert (entries(tmp_path / "none"), list(names(tmp_path / "none", 2)), list(names(tmp_path / "a", 2))) == (
        [],
        [],
        [],
    )


def test_a_link_tells_its_last_part(tmp_path: Path) -> None:
    (tmp_path / "driver").symlink_to("../../bus/pci/drivers/efa")
    assert (link_name(tmp_path / "driver"), link_name(tmp_path)) == ("efa", None)
