"""The canaries: envelopes that only prove that the way from the stream through triage is open.

Decides how one is named, so that the same minute's is the same. It must not know who waits for them.
"""

from datetime import UTC, datetime

from policies.contract.envelope import CANARY_NODE, Envelope, NodeIdentity
from policies.contract.events import FaultEvent
from policies.contract.identifiers import event_id
from policies.contract.vocabulary import Kind, Severity, Source


def canary(cluster: str, now: datetime, instance_id: str = CANARY_NODE) -> Envelope:
    """Return the envelope of this minute: one event of a node that does not exist, in a spool of its own.

    It takes the way of *instance_id*: envelopes are keyed by that on the stream, and triage knows a canary by its name.
    """
    minute = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M")
    event = FaultEvent(
        id=event_id(node=f"{cluster}/{instance_id}", boot_id="", source=Source.SWEEP, cursor=minute),
        seq=0,
        kind=Kind.PIPELINE_CANARY,
        severity=Severity.INFO,
        source=Source.SWEEP,
        observed_at=now,
        first_observed_at=now,
    )
    node = NodeIdentity(cluster=cluster, name=CANARY_NODE, instance_id=instance_id)
    return Envelope(node=node, spool_id=f"sweep:{minute}", first_seq=0, sent_at=now, events=(event,))
