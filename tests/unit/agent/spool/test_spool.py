import json
import os
import threading
from contextlib import ExitStack
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from agent.spool.limits import SpoolLimits
from agent.spool.opening import JOURNAL_NAME, open_spool
from agent.spool.state import Progress, encode
from policies.contract.errors import SettingsError
from policies.contract.vocabulary import Severity
from tests.tools.agent_events import ManualClock, describe_loss, make_event, new_ids
from tests.unit.agent.spool.spools import EVERYTHING, Opener, names


def test_what_waits_is_there_after_a_restart_with_its_seq_and_the_cursor(opened: Opener) -> None:
    with opened() as spool:
        identity = spool.heartbeat[0]
        spool.append([make_event("a"), make_event("b")], Progress("kernel_log", 17, {"xid79": {"count": 1}}))
    with opened() as spool:
        assert spool.heartbeat == (identity, 2)
        assert names(spool) == ["a", "b"]
        assert spool.progress("kernel_log") == Progress("kernel_log", 17, {"xid79": {"count": 1}})
        assert spool.progress("nvml") is None


def test_what_was_acknowledged_is_gone_after_a_restart_and_its_seq_never_comes_again(opened: Opener) -> None:
    with opened() as spool:
        spool.append([make_event("a"), make_event("b")])
        batch = spool.take(1)
        assert batch is not None
        assert [event.seq for event in batch.events] == [0]
        spool.acknowledge(batch)
    with opened() as spool:
        assert names(spool) == ["b"]
        rest = spool.take(EVERYTHING)
        assert rest is not None
        spool.acknowledge(rest)
    with opened() as spool:
        assert spool.waiting == 0
        spool.append([make_event("c")])
        assert names(spool) == ["c"]
        assert spool.heartbeat[1] == 3


def test_what_is_under_way_is_not_taken_twice_until_released(opened: Opener) -> None:
    with opened() as spool:
        spool.append([make_event("a")])
        batch = spool.take(EVERYTHING)
        assert batch is not None
        assert spool.take(EVERYTHING) is None
        spool.release(batch)
        assert names(spool) == ["a"]


def test_only_the_severe_are_taken_when_asked(opened: Opener) -> None:
    with opened() as spool:
        spool.append([make_event("dull", Severity.INFO), make_event("bad", Severity.ERROR)])
        batch = spool.take(EVERYTHING, min_rank=Severity.ERROR.rank)
        assert batch is not None
        assert [event.seq for event in batch.events] == [1]


def test_a_burst_that_ended_is_no_longer_told(opened: Opener) -> None:
    with opened() as spool:
        spool.append([], Progress("kernel_log", 1, {"a": {"n": 1}, "b": {"n": 1}}))
        spool.append([], Progress("kernel_log", 2, {"a": None, "b": {"n": 2}}))
    with opened() as spool:
        assert spool.progress("kernel_log") == Progress("kernel_log", 2, {"b": {"n": 2}})


def test_a_full_spool_gives_up_the_least_severe_first_and_says_so(
    opened: Opener,
) -> None:
    limits = SpoolLimits(max_bytes=8 * 1024)
    with opened(limits=limits) as spool:
        spool.append([make_event("bad", Severity.CRITICAL, "x" * 300)])
        for number in range(20):
            spool.append([make_event(number, Severity.INFO, "x" * 300)])
        kept = names(spool)
    assert kept[0] == "bad"
    assert "pipeline.overflowed" in kept
    assert "0" not in kept
    assert "19" in kept


def test_the_file_of_a_full_spool_stays_within_its_limit(opened: Opener, tmp_path: Path) -> None:
    limits = SpoolLimits(max_bytes=16 * 1024)
    with opened(limits=limits) as spool:
        for number in range(300):
            spool.append([make_event(number, message="x" * 500)], Progress("kernel_log", number))
            assert (tmp_path / JOURNAL_NAME).stat().st_size <= limits.max_bytes + 1024
    with opened(limits=limits) as spool:
        assert spool.progress("kernel_log") == Progress("kernel_log", 299)
        assert "299" in names(spool)


def test_a_source_with_much_to_remember_does_not_make_each_acknowledgement_write_the_file_anew(
    opened: Opener, tmp_path: Path
) -> None:
    """As a poll with a thousand open conditions has: the first line alone is larger than any small file."""
    path, files = tmp_path / JOURNAL_NAME, list[int]()
    with opened() as spool:
        for number in range(60):
            spool.append([make_event(number)], Progress("poll", {"number": number, "rest": "x" * 400_000}))
            batch = spool.take(EVERYTHING)
            assert batch is not None
            spool.acknowledge(batch)
            files.append(path.stat().st_ino)
            assert path.stat().st_size < 6 * 400_000
    assert sum(one != other for one, other in pairwise(files)) < 30


def test_a_long_quiet_life_does_not_grow_the_file(opened: Opener, tmp_path: Path) -> None:
    with opened() as spool:
        for number in range(1500):
            spool.append([make_event(number)], Progress("kernel_log", number))
            batch = spool.take(EVERYTHING)
            assert batch is not None
            spool.acknowledge(batch)
        assert (tmp_path / JOURNAL_NAME).stat().st_size < 300 * 1024
        assert spool.heartbeat[1] == 1500
    with opened() as spool:
        assert spool.heartbeat[1] == 1500


def test_what_is_too_old_for_anybody_goes_and_is_told(opened: Opener, clock: ManualClock) -> None:
    with opened() as spool:
        spool.append([make_event("old")])
        clock.advance(timedelta(hours=71).total_seconds())
        spool.append([make_event("young")])
        clock.advance(timedelta(hours=2).total_seconds())
        assert names(spool) == ["young", "pipeline.overflowed"]


def test_a_second_agent_on_the_same_folder_is_told_to_stay_away(opened: Opener) -> None:
    with opened(), pytest.raises(SettingsError, match="another agent uses"), opened():
        pass


def test_an_agent_waits_for_the_one_before_it_to_be_gone(opened: Opener) -> None:
    with ExitStack() as before:
        before.enter_context(opened())
        leaving = threading.Timer(0.05, before.close)
        leaving.start()
        with opened() as spool:
            assert spool.waiting == 0
        leaving.join()


def test_a_folder_that_cannot_be_made_says_which_setting_to_change(tmp_path: Path, clock: ManualClock) -> None:
    (tmp_path / "file").write_text("")
    spool = open_spool(
        tmp_path / "file",
        owner="i-1",
        boot_id="b",
        limits=SpoolLimits(),
        clock=clock,
        new_id=new_ids(),
        describe_loss=describe_loss,
    )
    with pytest.raises(SettingsError, match="RELIGHT_AGENT_SPOOL_DIR"), spool:
        pass


def test_the_spool_of_a_cloned_disk_is_set_aside(opened: Opener, tmp_path: Path) -> None:
    with opened(owner="i-1") as spool:
        first = spool.heartbeat[0]
        spool.append([make_event("theirs")])
    with opened(owner="i-2") as spool:
        assert spool.heartbeat[0] != first
        assert names(spool) == []
    assert (tmp_path / f"{JOURNAL_NAME}.aside").exists()


def test_a_damaged_line_is_told_and_the_lines_after_it_are_read(opened: Opener, tmp_path: Path) -> None:
    with opened() as spool:
        for name in "abc":
            spool.append([make_event(name)])
        seq = spool.heartbeat[1]
    path = tmp_path / JOURNAL_NAME
    lines = path.read_bytes().split(b"\n")
    lines[2] = lines[2].replace(b'"b"', b'"X"')
    path.write_bytes(b"\n".join(lines))
    with opened() as spool:
        assert names(spool) == ["a", "c", "pipeline.overflowed"]
        assert spool.heartbeat[1] > seq + 1


def test_a_spool_without_a_readable_head_begins_anew_and_says_so(opened: Opener, tmp_path: Path) -> None:
    with opened() as spool:
        first = spool.heartbeat[0]
    (tmp_path / JOURNAL_NAME).write_bytes(os.urandom(300) + b"\n")
    with opened() as spool:
        assert spool.heartbeat[0] != first
        assert names(spool) == ["pipeline.overflowed"]


def test_another_boot_counts_anew_under_another_id_and_keeps_what_waits(opened: Opener) -> None:
    with opened(boot_id="b1") as spool:
        first = spool.heartbeat[0]
        spool.append([make_event("a"), make_event("b")], Progress("kernel_log", 7))
        batch = spool.take(1)
        assert batch is not None
        spool.acknowledge(batch)
    with opened(boot_id="b2") as spool:
        assert spool.heartbeat[0] != first
        assert spool.heartbeat[1] == 1
        assert names(spool) == ["b"]
        assert spool.progress("kernel_log") == Progress("kernel_log", 7)
        second = spool.heartbeat
    with opened(boot_id="b2") as spool:
        assert spool.heartbeat == second
        assert names(spool) == ["b"]


def test_waiting_ends_at_an_append_or_a_wake(opened: Opener) -> None:
    with opened() as spool:
        seen = spool.wait(-1, 5)
        assert spool.wait(seen, 0.001) == seen
        spool.append([make_event("a")])
        assert spool.wait(seen, 5) != seen
        seen = spool.wait(seen, 5)
        spool.wake()
        assert spool.wait(seen, 5) != seen


def test_what_is_read_back_from_disk_still_fits_the_overflow_queue() -> None:
    line = encode({"message": "\uffff\ufffe"})
    assert not {"\ufffe", "\uffff"} & set(line.decode())
    assert json.loads(line) == {"message": "\uffff\ufffe"}
