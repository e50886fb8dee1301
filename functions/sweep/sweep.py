"""The minute's look: asks coordinate to go through every open incident, and proves that the pipeline is alive.

Twice in one minute is the same as once: both messages have ids made of cluster and minute. It must not look at an
incident itself.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from functions.ports.faults import FaultsLane
from functions.ports.sweeps import Sweeps
from policies.contract.decisions import SweepMessage
from policies.contract.envelope import CANARY_NODE, Envelope, NodeIdentity
from policies.contract.errors import DependencyError
from policies.contract.events import FaultEvent
from policies.contract.identifiers import event_id
from policies.contract.vocabulary import Kind, Severity, Source


def sweep(*, clusters: Sequence[str], sweeps: Sweeps, faults: FaultsLane, clock: Callable[[], datetime]) -> None:
    """Send a sweep and a canary for each of *clusters*. One that fails stops no other; DependencyError at the end."""
    now = clock()
    failures = [*_ask(clusters, sweeps, now), *_sing(clusters, faults, now)]
    if failures:
        raise DependencyError(
            f"{len(failures)} of {len(clusters) + 1} sends failed, the first: {failures[0]}",
            hint="Lambda tries again twice; the next minute does too.",
        )


def _ask(clusters: Sequence[str], sweeps: Sweeps, now: datetime) -> list[DependencyError]:
    failures = []
    for cluster in clusters:
        try:
            sweeps.send(SweepMessage(cluster=cluster, at=now))
        except DependencyError as error:
            failures.append(error)
    return failures


def _sing(clusters: Sequence[str], faults: FaultsLane, now: datetime) -> list[DependencyError]:
    try:
        faults.put([canary(cluster, now) for cluster in clusters])
    except DependencyError as error:
        return [error]
    return []


def canary(cluster: str, now: datetime) -> Envelope:
    """Return the envelope of this minute: one event of a node that does not exist, in a spool of its own."""
    minute = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M")
    event = FaultEvent(
        id=event_id(node=f"{cluster}/{CANARY_NODE}", boot_id="", source=Source.SWEEP, cursor=minute),
        seq=0,
        kind=Kind.PIPELINE_CANARY,
        severity=Severity.INFO,
        source=Source.SWEEP,
        observed_at=now,
        first_observed_at=now,
    )
    node = NodeIdentity(cluster=cluster, name=CANARY_NODE, instance_id=CANARY_NODE)
    return Envelope(node=node, spool_id=f"sweep:{minute}", first_seq=0, sent_at=now, events=(event,))
