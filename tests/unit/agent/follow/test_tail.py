import os
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agent.follow.reader import LogGap, LogRecord
from agent.follow.tail import FileTail
from tests.tools.sources import eventually

Opener = Callable[..., FileTail]
NOW = datetime.now(UTC) + timedelta(hours=1)  # later than any file of the test was written


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kernel.log"


@pytest.fixture
def tail(path: Path) -> Iterator[Opener]:
    opened: list[FileTail] = []

    def opener(position: dict[str, Any] | None = None, *, from_end: bool = False) -> FileTail:
        opened.append(FileTail(path, position, clock=lambda: NOW, start=None if from_end else 0))
        return opened[-1]

    yield opener
    for one in opened:
        one.close()


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def read_all(tail: FileTail) -> list[LogRecord | LogGap]:
    found: list[LogRecord | LogGap] = []
    quiet = 0
    while quiet < 3:
        new = tail.read(0.001)
        quiet = 0 if new else quiet + 1
        found += new
    return found


def texts(items: list[LogRecord | LogGap]) -> list[str]:
    return [item.record.text if isinstance(item, LogRecord) else f"<{item.reason}>" for item in items]


def test_lines_come_once_and_in_order(path: Path, tail: Opener) -> None:
    append(path, "one\ntwo\n")
    reader = tail()
    assert texts(read_all(reader)) == ["one", "two"]
    append(path, "three\n")
    assert texts(read_all(reader)) == ["three"]


def test_a_half_written_line_waits_for_its_end(path: Path, tail: Opener) -> None:
    append(path, "one\nhal")
    reader = tail()
    assert texts(read_all(reader)) == ["one"]
    append(path, "f\n")
    assert texts(read_all(reader)) == ["half"]


def test_a_file_that_is_not_there_yet_is_read_when_it_comes(path: Path, tail: Opener) -> None:
    reader = tail()
    assert read_all(reader) == []
    append(path, "one\n")
    assert texts(read_all(reader)) == ["one"]


def test_a_restart_goes_on_behind_the_last_record(path: Path, tail: Opener) -> None:
    append(path, "one\ntwo\nthr")
    first = read_all(tail())
    append(path, "ee\n")
    assert texts(read_all(tail(first[0].position))) == ["two", "three"]
    assert texts(read_all(tail(first[1].position))) == ["three"]


def test_the_same_record_has_the_same_key_whoever_reads_it(path: Path, tail: Opener) -> None:
    append(path, "one\ntwo\n")
    first, second = read_all(tail())
    (again,) = read_all(tail(first.position))
    assert second.key == again.key
    assert first.key != second.key


def test_rotation_loses_nothing_not_even_the_unfinished_line(path: Path, tail: Opener) -> None:
    append(path, "one\n")
    reader = tail()
    items = read_all(reader)
    append(path, "two\nthree without end")
    path.rename(path.with_name("kernel.log.1"))
    append(path, "four\n")
    items += read_all(reader)
    assert texts(items) == ["one", "two", "three without end", "four"]
    assert len({item.key for item in items}) == 4


def test_a_rotation_while_nobody_looked_is_made_up_for(path: Path, tail: Opener) -> None:
    append(path, "one\n")
    (one,) = read_all(tail())
    append(path, "two\n")
    path.rename(path.with_name("kernel.log.1"))
    append(path, "three\n")
    assert texts(read_all(tail(one.position))) == ["two", "three"]


def test_a_file_that_was_replaced_while_nobody_looked_is_a_gap(path: Path, tail: Opener) -> None:
    append(path, "one of the old file\n")
    (one,) = read_all(tail())
    path.unlink()
    append(path, "another first line, and longer\n")
    items = read_all(tail(one.position))
    assert texts(items) == ["<replaced>", "another first line, and longer"]
    assert items[1].key != one.key
    again = read_all(tail(items[1].position))
    assert again == []


def test_a_truncated_file_is_a_gap_and_read_from_its_beginning(path: Path, tail: Opener) -> None:
    append(path, "one\ntwo\n")
    reader = tail()
    before = read_all(reader)
    os.truncate(path, 0)
    append(path, "x\n")
    after = read_all(reader)
    assert texts(after) == ["<truncated>", "x"]
    assert not {item.key for item in before} & {item.key for item in after}


def test_from_the_end_old_lines_are_left_alone(path: Path, tail: Opener) -> None:
    append(path, "old\n")
    reader = tail(from_end=True)
    assert read_all(reader) == []
    append(path, "new\n")
    assert texts(read_all(reader)) == ["new"]


def test_times_since_boot_are_dated_by_when_the_file_was_last_written(path: Path, tail: Opener) -> None:
    append(path, "6,1,1000000,-;one\n6,2,61000000,-;two\n")
    written = NOW - timedelta(days=1)
    os.utime(path, (written.timestamp(), written.timestamp()))
    one, two = read_all(tail())
    assert abs(two.at - written) < timedelta(milliseconds=1)
    assert two.at - one.at == timedelta(seconds=60)


def test_the_last_record_dates_the_first_even_of_a_large_file(path: Path, tail: Opener) -> None:
    append(path, "".join(f"6,{number},{number}000000,-;{'x' * 80}\n" for number in range(3000)))
    first = read_all(tail())[0]
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    assert abs(written - first.at - timedelta(seconds=2999)) < timedelta(milliseconds=1)


def test_properties_of_a_device_record_are_no_records(path: Path, tail: Opener) -> None:
    append(path, "6,1,2,-;one\n SUBSYSTEM=pci\n DEVICE=+pci:0000:4b:00.0\n6,2,3,-;two\n")
    assert texts(read_all(tail())) == ["one", "two"]


def woken_after(reader: FileTail, path: Path) -> float:
    """Return how many seconds after a line was written a reader that waits has it."""
    written: list[float] = []

    def write() -> None:
        time.sleep(0.05)
        append(path, "two\n")
        written.append(time.monotonic())

    writer = threading.Thread(target=write)
    writer.start()
    while not (items := reader.read(30)):
        pass
    woken = time.monotonic()
    writer.join()
    assert texts(items) == ["two"]
    return woken - written[0]


def test_a_reader_that_waits_wakes_within_milliseconds(path: Path, tail: Opener) -> None:
    append(path, "one\n")
    reader = tail()
    read_all(reader)
    # Far less on an idle machine, tests/bench tells the figure; on a busy one some pauses are not the reader's.
    eventually(lambda: woken_after(reader, path) < 0.5)


def test_a_pipe_at_the_path_is_refused_instead_of_waited_for(path: Path, tail: Opener) -> None:
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        tail().read(0.01)
