"""Which nodes had which fault of late: what a cluster's document keeps of the findings about nodes.

Decides what is kept: the newest sign of each fault and node, for an hour, the newest ones where there are too many. The
same findings always give the same document, in whatever order and however often. It must not know who asks.
"""

from bisect import bisect_left
from collections.abc import Iterable
from datetime import datetime

from policies.contract.decisions import Finding
from policies.coordination.storms import is_of_a_scope
from policies.facts.faults import fault_of
from policies.facts.recent import HOUR, Recent, Sign, rack_and_switch

MOST_SIGNS = 512  # about 70 KiB
LONGEST_DRIVER = 32  # 570.148.08; what is longer is no version


def note(recent: Recent | None, findings: Iterable[Finding], cluster: str, now: datetime) -> Recent | None:
    """Return *recent* with what *findings* tell; None when there is nothing to keep."""
    signs = list(recent.signs if recent else ())  # in order: a storm of a thousand nodes notes each of its findings
    for finding in findings:
        if not is_of_a_scope(finding.generation):
            _put(signs, _sign(finding, now))
    since = now - HOUR
    fresh = [sign for sign in signs if sign.at >= since]
    if len(fresh) > MOST_SIGNS:
        fresh = sorted(sorted(fresh, key=lambda sign: (sign.at, sign))[-MOST_SIGNS:])
    kept = tuple(fresh)
    if recent is None:
        return Recent(cluster=cluster, signs=kept) if kept else None
    return recent if kept == recent.signs else recent.model_copy(update={"signs": kept})


def _put(signs: list[Sign], sign: Sign) -> None:
    """Put *sign* in its place among *signs*, in the place of an older one of the same fault and node."""
    at = bisect_left(signs, sign[:2])
    if at == len(signs) or signs[at][:2] != sign[:2]:
        signs.insert(at, sign)
    elif sign > signs[at]:
        signs[at] = sign


def _sign(finding: Finding, now: datetime) -> Sign:
    node = finding.node
    driver = node.driver_version if len(node.driver_version) <= LONGEST_DRIVER else ""
    rack, switch = rack_and_switch(node.network_path)
    return Sign(
        fault=fault_of(finding.kind, finding.attributes),
        instance=node.instance_id,
        at=min(finding.observed_at, now),
        rack=rack,
        switch=switch,
        job=finding.job.id if finding.job else "",
        type=node.instance_type,
        driver=driver,
    )
