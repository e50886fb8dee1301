"""Makes contributions: what a node adds to a count that is wider than itself. Coordinate counts.

Decides their identity and what they carry, which is bounded whatever the event holds: no more than coordinate needs to
count, and a person to see. It must not count.
"""

from collections.abc import Iterable
from datetime import datetime

from policies.contract.decisions import Contribution, Contributions, WideRule
from policies.contract.envelope import NodeIdentity
from policies.contract.events import LONGEST_WORD, FaultEvent, brief_attributes, cut_message
from policies.contract.identifiers import stable_id
from policies.lasting import told_before

MESSAGE_BYTES = 256
MOST_ATTRIBUTES = 8


def contribute(
    rule: WideRule,
    scope: str,
    event: FaultEvent,
    node: NodeIdentity,
    lasted: tuple[int, int],
    arrived_at: datetime,
    distinct: str,
    same: str = "",
) -> Contribution:
    """Return what *event*, which *lasted* from one moment (ms, corrected) to the other, adds to the count in *scope*.

    It counts with others that agree in *same*.
    """
    since, moment = lasted
    return Contribution.model_construct(
        id=stable_id("contribution", rule.plan.name, scope, node.instance_id, event.id),
        event_id=event.id,
        node=node,
        job=event.job,
        kind=event.kind,
        severity=event.severity,
        source=event.source,
        moment_ms=moment,
        since_ms=since,
        queued_at=arrived_at,
        count=event.count,
        distinct=distinct if len(distinct) <= LONGEST_WORD else stable_id(distinct),
        same=same,
        occurrence=told_before(event) if "occurrence" in event.attributes else None,
        attributes=brief_attributes(event.attributes, MOST_ATTRIBUTES),
        message=cut_message(event.message, MESSAGE_BYTES)[0],
    )


def group(rule: WideRule, scope: str, entries: Iterable[Contribution]) -> Contributions:
    """Return *entries* of one count, each once, in the one order."""
    known = {entry.id: entry for entry in entries}
    return Contributions.model_construct(rule=rule, scope=scope, entries=tuple(known[key] for key in sorted(known)))
