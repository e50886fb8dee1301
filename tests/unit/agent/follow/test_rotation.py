import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.follow.reader import LogItem, LogRecord
from agent.follow.rotation import older_files
from agent.follow.tail import FileTail


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kern.log"


@pytest.fixture
def tail(path: Path) -> Iterator[FileTail]:
    made = FileTail(path, None, clock=lambda: datetime.now(UTC))
    yield made
    made.close()


def append(path: Path, text: str, *, written: float = 0) -> None:
    with path.open("a") as file:
        file.write(text)
    if written:
        os.utime(path, (written, written))


def all_of(tail: FileTail) -> list[LogItem]:
    found: list[LogItem] = []
    for _ in range(6):
        found += tail.look()
    return found


def texts(items: list[LogItem]) -> list[str]:
    return [item.record.text if isinstance(item, LogRecord) else f"<{item.reason}>" for item in items]


def again(path: Path, item: LogItem) -> list[str]:
    tail = FileTail(path, item.position, clock=lambda: datetime.now(UTC))
    try:
        return texts(all_of(tail))
    finally:
        tail.close()


def test_rotated_twice_between_two_looks_the_file_between_is_read_too(path: Path, tail: FileTail) -> None:
    append(path, "one\n", written=1000)
    assert texts(all_of(tail)) == ["one"]
    append(path, "two\n", written=1001)
    path.rename(path.with_name("kern.log.2"))
    append(path.with_name("kern.log.1"), "three\n", written=1002)
    append(path, "four\n")
    assert texts(all_of(tail)) == ["two", "three", "four"]


def test_a_copy_that_truncates_loses_nothing_that_is_in_the_copy(path: Path, tail: FileTail) -> None:
    append(path, "one\n")
    assert texts(all_of(tail)) == ["one"]
    append(path, "two\n")
    path.with_name("kern.log.1").write_text(path.read_text())
    os.truncate(path, 0)
    append(path, "3\n")
    assert texts(all_of(tail)) == ["two", "3"]


def test_a_name_with_the_date_is_found_after_a_restart(path: Path, tail: FileTail) -> None:
    append(path, "one\n")
    (one,) = all_of(tail)
    append(path, "two\n")
    path.rename(path.with_name("kern.log-20260131"))
    append(path, "three\n")
    assert again(path, one) == ["two", "three"]


def test_a_long_line_across_portions_does_not_confuse_the_place(path: Path, tail: FileTail) -> None:
    append(path, "a" * 100_000 + "\nsecond\nthird\n")
    items = all_of(tail)
    assert [len(text) for text in texts(items)] == [64 * 1024, 6, 5]
    assert again(path, items[0]) == ["second", "third"]
    assert again(path, items[1]) == ["third"]


def test_only_what_a_log_was_rotated_to_is_older(path: Path) -> None:
    for name in ("kern.log", "kern.log.1", "kern.log-20260131", "kern.log.2.gz", "kern.logs", "other.log.1"):
        path.with_name(name).touch()
    assert {older.name for older in older_files(path)} == {"kern.log.1", "kern.log-20260131"}


def test_letters_of_a_pattern_in_a_name_mean_themselves(tmp_path: Path) -> None:
    path = tmp_path / "rank[0].log"
    path.with_name("rank[0].log.1").touch()
    path.with_name("rank0.log.1").touch()
    assert [older.name for older in older_files(path)] == ["rank[0].log.1"]


def test_who_still_writes_to_the_old_file_is_heard_until_somebody_writes_to_the_new(path: Path, tail: FileTail) -> None:
    append(path, "one\n")
    assert texts(all_of(tail)) == ["one"]
    old = path.with_name("kern.log.1")
    path.rename(old)
    path.touch()
    assert texts(all_of(tail)) == []
    append(old, "two\n")
    assert texts(all_of(tail)) == ["two"]
    append(old, "three\n")
    append(path, "four\n")
    assert texts(all_of(tail)) == ["three", "four"]


def test_killed_before_the_first_line_it_goes_on_in_the_file_that_was_there(path: Path, tail: FileTail) -> None:
    path.touch()
    assert all_of(tail) == []
    place = tail.place()
    assert place is not None
    append(path, "one\n")
    path.rename(path.with_name("kern.log.1"))
    append(path, "two\n")
    after = FileTail(path, place.as_json(), clock=lambda: datetime.now(UTC))
    try:
        assert texts(all_of(after)) == ["one", "two"]
    finally:
        after.close()
