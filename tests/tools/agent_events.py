"""Events, ids and clocks for tests of the agent."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.spool.limits import Loss
from policies.contract.events import FaultEvent
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import Kind, Severity, Source

START = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


class ManualClock:
    """A clock that goes when told."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def make_event(name: object = 1, severity: Severity = Severity.ERROR, message: str = "") -> FaultEvent:
    return FaultEvent(
        id=stable_id("test", name),
        seq=0,
        kind=Kind.GPU_XID,
        severity=severity,
        source=Source.KERNEL_LOG,
        observed_at=START,
        first_observed_at=START,
        attributes={"name": str(name)},
        message=message,
    )


def describe_loss(spool_id: str, loss: Loss) -> FaultEvent:
    return FaultEvent(
        id=stable_id("loss", spool_id, loss),
        seq=0,
        kind=Kind.PIPELINE_OVERFLOWED,
        severity=Severity.ERROR,
        source=Source.AGENT,
        observed_at=START,
        first_observed_at=START,
        count=loss.count,
        attributes={"reason": loss.reason},
    )


def new_ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"spool-{next(numbers)}"


def memory_folder() -> TemporaryDirectory[str]:
    """A folder in memory where there is one: properties open hundreds of spools, and a disk would sync each."""
    memory = Path("/dev/shm")
    return TemporaryDirectory(dir=memory if memory.is_dir() else None)
