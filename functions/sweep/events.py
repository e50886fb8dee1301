"""What the sweep says of silence, as envelopes. The same silence, told again the next minute, is the same event.

It must not decide who is silent.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from functions.ports.triage import Heard
from policies.contract.envelope import Envelope, NodeIdentity
from policies.contract.events import Component, FaultEvent
from policies.contract.identifiers import event_id
from policies.contract.times import format_time
from policies.contract.vocabulary import ComponentType, Kind, Severity, Source

CLUSTER_NODE = "relight-sweep"  # who is meant when a whole cluster is: no instance has this id
_MOST_NAMED = 10


def node_silent(node: NodeIdentity, last: Heard, status_checks: str, now: datetime) -> Envelope:
    """Return that *node* said nothing since *last*; ``status_checks`` is ok, impaired or unknown."""
    age = (now - last.at).total_seconds()
    cursor = format_time(last.at)
    event = FaultEvent(
        id=event_id(node=last.instance_id, boot_id=last.boot_id, source=Source.SWEEP, cursor=cursor),
        seq=0,
        kind=Kind.NODE_SILENT,
        severity=Severity.CRITICAL,
        source=Source.SWEEP,
        observed_at=now,
        first_observed_at=last.at,
        component=Component(type=ComponentType.NODE),
        attributes={"last_seen_seconds": round(age), "last_seen": cursor, "status_checks": status_checks},
        message=f"nothing was heard of {node.name} for {age:.0f} s; EC2's status checks: {status_checks}",
    )
    return Envelope(node=node, spool_id=f"silent:{cursor}", first_seq=0, sent_at=now, events=(event,))


def many_silent(nodes: Sequence[Heard], now: datetime) -> Envelope:
    """Return that so many *nodes* of a cluster are silent that it is not theirs; once a quarter of an hour."""
    cluster = nodes[0].cluster
    quarter = f"{now.astimezone(UTC):%Y-%m-%dT%H}:{now.minute // 15}"
    names = sorted(one.instance_id for one in nodes)
    named = ", ".join([*names[:_MOST_NAMED], *(["…"] if len(names) > _MOST_NAMED else [])])
    event = FaultEvent(
        id=event_id(node=f"{cluster}/{CLUSTER_NODE}", boot_id="", source=Source.SWEEP, cursor=f"many:{quarter}"),
        seq=0,
        kind=Kind.PIPELINE_NODES_SILENT,
        severity=Severity.CRITICAL,
        source=Source.SWEEP,
        observed_at=now,
        first_observed_at=min(one.at for one in nodes),
        attributes={"nodes": len(nodes)},
        message=f"{len(nodes)} nodes of {cluster} fell silent at once ({named})",
    )
    node = NodeIdentity(cluster=cluster, name=CLUSTER_NODE, instance_id=CLUSTER_NODE)
    return Envelope(node=node, spool_id=f"many-silent:{quarter}", first_seq=0, sent_at=now, events=(event,))
