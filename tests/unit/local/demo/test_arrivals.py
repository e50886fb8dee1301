"""A spool on a node's disk is read without its owner's help."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.spool.limits import Loss, SpoolLimits
from agent.spool.opening import JOURNAL_NAME, open_spool
from agent.spool.spool import Spool
from local.demo.arrivals import read_spool
from policies.contract.events import FaultEvent
from policies.contract.vocabulary import Kind, Severity, Source

NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


def event(number: int) -> FaultEvent:
    return FaultEvent(
        id=f"{number:032x}",
        seq=0,
        kind=Kind.GPU_XID,
        severity=Severity.CRITICAL,
        source=Source.KERNEL_LOG,
        observed_at=NOW,
        first_observed_at=NOW,
    )


def no_loss(_spool: str, _loss: Loss) -> FaultEvent:
    raise AssertionError("nothing is given up here")


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with open_spool(
        tmp_path,
        owner="i-1",
        boot_id="boot",
        limits=SpoolLimits(),
        clock=lambda: NOW,
        new_id=lambda: "spool",
        describe_loss=no_loss,
    ) as spool:
        yield spool


def test_what_was_numbered_and_what_waits_is_read_while_the_agent_runs(spool: Spool, tmp_path: Path) -> None:
    spool.append([event(1), event(2)])
    batch = spool.take(1, max_events=1)
    assert batch is not None
    spool.acknowledge(batch)
    state = read_spool(tmp_path)
    assert state is not None
    assert (state.spool_id, state.next_seq, set(state.waiting)) == ("spool", 2, {1})


def test_a_line_that_is_being_written_and_one_that_was_damaged_are_left_out(spool: Spool, tmp_path: Path) -> None:
    spool.append([event(1), event(2)])
    journal = tmp_path / JOURNAL_NAME
    whole = journal.read_bytes()
    spool.append([event(3)])
    line = journal.read_bytes()[len(whole) :]
    for end in range(len(line)):
        journal.write_bytes(whole + line[:end])
        state = read_spool(tmp_path)
        assert state is not None
        assert (state.next_seq, set(state.waiting)) == (2, {0, 1})
    journal.write_bytes(whole + line.replace(b"0003", b"0004") + line)
    state = read_spool(tmp_path)
    assert state is not None
    assert (state.next_seq, set(state.waiting)) == (3, {0, 1, 2})


def test_a_journal_whose_head_is_being_written_says_nothing_yet(spool: Spool, tmp_path: Path) -> None:
    journal = tmp_path / JOURNAL_NAME
    assert read_spool(tmp_path) is not None
    journal.write_bytes(journal.read_bytes()[:-1])
    assert read_spool(tmp_path) is None


def test_a_node_without_a_spool_has_sent_nothing(tmp_path: Path) -> None:
    assert read_spool(tmp_path / "none") is None
