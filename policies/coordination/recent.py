"""Which nodes had which fault of late: what a cluster's document keeps of the findings about nodes.

Decides what is kept: the newest sign of each fault, node and run, and when it came in a row before; for an hour, the
newest ones where there are too many. The same findings of an hour always give the same document, in whatever order and
however often. It must not know who asks.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from heapq import nsmallest
from operator import attrgetter

from policies.contract.decisions import Finding
from policies.coordination.storms import is_of_a_scope
from policies.facts.faults import fault_of
from policies.facts.recent import HOUR, Recent, Row, Sign, Span, rack_and_switch, spans_of
from policies.precision.restarts import BEFORE

MOST_SIGNS = 512  # about 70 KiB, and as much again with a row each
IN_A_ROW = BEFORE  # whoever asks whether it came in the half hour before finds nothing between that is not there
MOST_SPANS = 2  # half an hour apart within an hour
_at = attrgetter("at")  # of those of one moment the first by name go first: signs are in that order
LONGEST_DRIVER = 32  # 570.148.08; what is longer is no version


def note(recent: Recent | None, findings: Iterable[Finding], cluster: str, now: datetime) -> Recent | None:
    """Return *recent* with what *findings* tell; None when there is nothing to keep."""
    # Both in order: a storm of a thousand nodes notes each of its findings among hundreds.
    signs, rows = (list(recent.signs), list(recent.rows)) if recent else ([], [])
    since = now - HOUR
    for finding in findings:
        sign = _sign(finding, now)
        if sign.at >= since and not is_of_a_scope(finding.generation):
            _put(signs, rows, sign, () if finding.late else None)
    for gone in nsmallest(max(len(signs) - MOST_SIGNS, _count_before(signs, since)), signs, key=_at):
        _drop(signs, gone)
        _drop(rows, gone)
    kept, theirs = tuple(signs), tuple(rows)
    if recent is None:
        return Recent(cluster=cluster, signs=kept, rows=theirs) if kept else None
    is_same = (kept, theirs) == (recent.signs, recent.rows)
    return recent if is_same else recent.model_copy(update={"signs": kept, "rows": theirs})


def _count_before(signs: Sequence[Sign], since: datetime) -> int:
    return sum([sign.at < since for sign in signs])


def _drop(ones: list[Sign] | list[Row], gone: Sign) -> None:
    """Drop what is of the same fault, node and run as *gone* from *ones*, which are in order."""
    at = bisect_left(ones, _whose(gone), key=_whose)
    if at < len(ones) and _whose(ones[at]) == _whose(gone):
        del ones[at]


def _put(signs: list[Sign], rows: list[Row], sign: Sign, ages: tuple[int, ...] | None) -> None:
    """Put *sign* in its place among *signs*, in the place of an older one of the same fault, node and run.

    *ages* are those of its row, None where it needs none; what both are is one row.
    """
    at, whose = bisect_left(signs, _whose(sign), key=_whose), _whose(sign)
    place = bisect_left(rows, whose, key=_whose)
    row = rows.pop(place) if place < len(rows) and _whose(rows[place]) == whose else None
    if at == len(signs) or _whose(signs[at]) != whose:
        signs.insert(at, sign)
    else:
        known = signs[at]
        spans = _in_a_row((*spans_of(known.at, _ages(row, known)), *spans_of(sign.at, ages)))
        signs[at] = sign = max(known, sign, key=lambda one: (one.at, one))
        ages = _as_ages(spans, sign.at)
    if ages is not None:
        told = Row.trusted(fault=sign.fault, instance=sign.instance, job=sign.job, at=sign.at, ages=ages)
        rows.insert(place, told)


def _whose(one: Sign | Row) -> tuple[str, str, str]:
    """Whether it names a run at all makes two signs of a fault: of one that names none nobody knows whose it is."""
    return one.fault, one.instance, one.job


def _ages(row: Row | None, sign: Sign) -> tuple[int, ...] | None:
    return row.ages if row is not None and row.at == sign.at else None


def _in_a_row(spans: Iterable[Span]) -> list[Span]:
    """Return *spans* joined where they are near each other, the latest ones: within the hour there are no more."""
    joined: list[Span] = []
    for since, until in sorted(spans):
        if joined and since - joined[-1][1] <= IN_A_ROW:
            joined[-1] = joined[-1][0], max(joined[-1][1], until)
        else:
            joined.append((since, until))
    return joined[-MOST_SPANS:]


def _as_ages(spans: Iterable[Span], at: datetime) -> tuple[int, ...] | None:
    ages = tuple((at - end) // timedelta(microseconds=1) for span in spans for end in span)
    return None if ages == (0, 0) else ages


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
