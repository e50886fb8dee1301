"""Which nodes had which fault of late: what a cluster's document keeps of the findings about nodes.

Decides what is kept: the newest sign of each fault and node, for an hour, the newest ones where there are too many. The
same findings always give the same document, in whatever order and however often. It must not know who asks.
"""

from collections.abc import Iterable
from datetime import datetime

from policies.contract.decisions import Finding
from policies.coordination.storms import is_of_a_scope
from policies.facts.faults import fault_of
from policies.facts.recent import HOUR, Recent, Sign, rack_and_switch

MOST_SIGNS = 512  # about 60 KiB


def note(recent: Recent | None, findings: Iterable[Finding], cluster: str, now: datetime) -> Recent | None:
    """Return *recent* with what *findings* tell; None when there is nothing to keep."""
    signs = {(sign.fault, sign.instance): sign for sign in (recent.signs if recent else ())}
    for finding in findings:
        sign = _sign(finding, now)
        known = signs.get((sign.fault, sign.instance))
        if not is_of_a_scope(finding.generation) and (known is None or sign > known):
            signs[sign.fault, sign.instance] = sign
    fresh = sorted((sign for sign in signs.values() if now - sign.at <= HOUR), key=lambda sign: (sign.at, sign))
    kept = tuple(sorted(fresh[-MOST_SIGNS:]))
    if recent is None:
        return Recent(cluster=cluster, signs=kept) if kept else None
    return recent if kept == recent.signs else recent.model_copy(update={"signs": kept})


def _sign(finding: Finding, now: datetime) -> Sign:
    node = finding.node
    rack, switch = rack_and_switch(node.network_path)
    return Sign(
        fault=fault_of(finding.kind, finding.attributes),
        instance=node.instance_id,
        at=min(finding.observed_at, now),
        rack=rack,
        switch=switch,
        job=finding.job.id if finding.job else "",
        type=node.instance_type,
    )
