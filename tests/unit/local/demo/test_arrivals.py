"""A spool on a node's disk is read without its owner's help."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.spool.limits import Loss, SpoolLimits
from agent.spool.opening import open_spool
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


def test_a_node_without_a_spool_has_sent_nothing(tmp_path: Path) -> None:
    assert read_spool(tmp_path / "none") is None
