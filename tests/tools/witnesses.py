"""A second witness on twins: what EC2 says and when agents were heard is set by the test."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from functions.acts.support import Pace
from functions.kubernetes.witness import Witness
from functions.twins.heartbeats import MemoryHeartbeats
from functions.twins.instances import MemoryInstances
from policies.contract.times import format_time
from policies.contract.vocabulary import Kind, Severity, Source
from policies.coordination.notes import FindingNote


@dataclass(frozen=True)
class Around:
    """The twins behind one witness."""

    instances: MemoryInstances
    heartbeats: MemoryHeartbeats
    witness: Witness


def around(clock: Callable[[], datetime]) -> Around:
    instances, heartbeats = MemoryInstances(clock), MemoryHeartbeats()
    return Around(instances, heartbeats, Witness(instances, heartbeats, Pace()))


def silence(at: datetime, *, seconds: float = 160, kind: Kind = Kind.NODE_SILENT) -> FindingNote:
    """A note that a node was silent for so long at this moment."""
    return FindingNote(
        id=f"{kind}-{at}",
        policy="node-silent",
        revision=1,
        kind=kind,
        severity=Severity.CRITICAL,
        source=Source.SWEEP,
        first_observed_at=at,
        observed_at=at,
        attributes={"last_seen": format_time(at - timedelta(seconds=seconds))},
    )
