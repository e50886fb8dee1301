"""A disk that is full or refuses stops nobody, and no seq of an id is given twice."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.spool.state import Progress
from tests.tools.agent_events import ManualClock, make_event
from tests.unit.agent.spool.spools import EVERYTHING, Opener, is_on_disk, names


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """A disk that is full while the list holds True; the real write(2) goes on when it does not."""
    full: list[bool] = []
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        if full:
            return real(descriptor, data[:10])
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    yield full
    full.clear()


def test_a_full_disk_does_not_stop_the_spool_and_no_seq_of_the_old_id_is_given_twice(
    opened: Opener, full_disk: list[bool], clock: ManualClock
) -> None:
    with opened() as spool:
        first = spool.heartbeat[0]
        spool.append([make_event("a")])
        full_disk.append(True)
        spool.append([make_event("b")])
        assert not spool.on_disk
        assert spool.heartbeat[0] != first
        assert names(spool) == ["a", "b"]
    full_disk.clear()
    with opened() as spool:
        assert spool.heartbeat == (first, 1)
        assert names(spool) == ["a"]


@pytest.mark.parametrize("folder_too", [False, True])
def test_a_spool_that_somebody_removes_is_made_anew(
    opened: Opener, clock: ManualClock, tmp_path: Path, *, folder_too: bool
) -> None:
    """What is written into a file that has no name is lost at the next start, and nobody would know."""
    with opened() as spool:
        spool.append([make_event("a")], Progress("kernel_log", 1))
        for path in tmp_path.iterdir():
            path.unlink()
        if folder_too:
            tmp_path.rmdir()
        spool.append([make_event("b")], Progress("kernel_log", 2))
        assert not spool.on_disk
        clock.advance(11)
        spool.append([make_event("c")], Progress("kernel_log", 3))
        assert is_on_disk(spool)
    with opened() as spool:
        assert names(spool) == ["a", "b", "c"]
        assert spool.progress("kernel_log") == Progress("kernel_log", 3)


def test_a_disk_that_has_room_again_is_used_again(opened: Opener, full_disk: list[bool], clock: ManualClock) -> None:
    with opened() as spool:
        full_disk.append(True)
        spool.append([make_event("a")], Progress("kernel_log", 1))
        full_disk.clear()
        clock.advance(11)
        spool.append([make_event("b")], Progress("kernel_log", 2))
        assert spool.on_disk
        identity = spool.heartbeat
    with opened() as spool:
        assert spool.heartbeat == identity
        assert names(spool) == ["a", "b"]
        assert spool.progress("kernel_log") == Progress("kernel_log", 2)


@pytest.mark.parametrize("delivered", [True, False])
def test_a_disk_that_fails_while_events_are_under_way_confuses_nobody(
    opened: Opener, full_disk: list[bool], *, delivered: bool
) -> None:
    with opened() as spool:
        spool.append([make_event("done")])
        batch = spool.take(EVERYTHING)
        assert batch is not None
        spool.acknowledge(batch)
        spool.append([make_event("a"), make_event("b")])
        batch = spool.take(EVERYTHING)
        assert batch is not None
        full_disk.append(True)
        spool.append([make_event("c")])
        assert names(spool) == ["c"]
        if delivered:
            spool.acknowledge(batch)
        else:
            spool.release(batch)
        assert names(spool) == (["c"] if delivered else ["a", "b", "c"])
        assert spool.heartbeat[1] == 3


def test_sync_takes_the_spool_off_a_disk_that_refuses(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with opened() as spool:
        first = spool.heartbeat[0]
        spool.append([make_event("a")])
        spool.sync()
        monkeypatch.setattr(os, "fdatasync", fails)
        spool.sync()
        assert is_on_disk(spool)  # nothing was written since the last sync, so none was tried
        spool.append([make_event("b")])
        spool.sync()
        assert not is_on_disk(spool)
        assert spool.heartbeat[0] != first
        spool.sync()
