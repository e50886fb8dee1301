"""A node's sign of life is written at most once a minute, and at once after a boot."""

import pytest

from functions.ports.triage import Heard
from functions.triage.seen import SeenBook
from functions.twins.triage import MemorySeen
from policies.contract.errors import DependencyError
from tests.tools.envelopes import at


def heard(seconds: float, instance_id: str = "i-1", boot: str = "b1") -> Heard:
    return Heard("c", instance_id, boot, at(seconds))


def test_at_most_one_write_a_minute_a_node() -> None:
    seen = MemorySeen()
    book = SeenBook(seen)
    for second in range(0, 121, 10):
        book.note([heard(second)])
    assert seen.writes == 3
    assert seen.last_seen("c", "i-1") == at(120)


def test_many_nodes_of_a_batch_are_one_write_and_the_newest_sign_counts() -> None:
    seen = MemorySeen()
    SeenBook(seen).note([heard(5), heard(9), heard(7), heard(1, "i-2")])
    assert seen.writes == 1
    assert (seen.last_seen("c", "i-1"), seen.last_seen("c", "i-2")) == (at(9), at(1))


def test_a_boot_is_written_at_once() -> None:
    seen = MemorySeen()
    book = SeenBook(seen)
    book.note([heard(0)])
    book.note([heard(5, boot="b2")])
    assert seen.last_seen("c", "i-1") == at(5)


def test_nobody_heard_is_no_write() -> None:
    seen = MemorySeen()
    SeenBook(seen).note([])
    assert seen.writes == 0


def test_a_write_that_failed_is_due_again() -> None:
    class Failing(MemorySeen):
        def write(self, heard: object) -> None:
            raise DependencyError("down.")

    book = SeenBook(Failing())
    for _attempt in range(2):
        with pytest.raises(DependencyError):
            book.note([heard(0)])
