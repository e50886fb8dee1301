"""What was seen of a cluster: events with their nodes and the moments at which they really happened.

Decides which of an archive's envelopes count once more, and which do not. It must not know what is done with them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from policies.clock_correction import ClockCorrection
from policies.contract.envelope import NodeIdentity
from policies.contract.events import FaultEvent
from policies.evaluator import Delivery
from policies.moments import from_ms


@dataclass(frozen=True)
class Sighting:
    """One event of *node*; ``moment`` is when it happened, by the clock of the lane that took it."""

    event: FaultEvent
    node: NodeIdentity
    moment: datetime


def sightings_of(deliveries: Iterable[Delivery]) -> Iterator[Sighting]:
    """Yield what *deliveries* tell, each event once however often its agent had to send it."""
    known: set[tuple[str, int]] = set()
    for delivery in deliveries:
        envelope = delivery.parsed.envelope
        clock = ClockCorrection(envelope.sent_at, delivery.arrived_at)
        for event in envelope.events:
            if (envelope.spool_id, event.seq) not in known:
                known.add((envelope.spool_id, event.seq))
                moment = from_ms(clock.moment_ms(event.observed_at))
                yield Sighting(event, envelope.node, moment)
