"""What triage says of a batch once it is committed: counters for alarms, remarks for the log.

Decides the names of the metrics. It must not have effects on anything else.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from functions.ports.triage import NodeKey, Telemetry
from policies.evaluator import Evaluation

MOST_REMARKS = 20


def tell(telemetry: Telemetry, judged: Mapping[NodeKey, Evaluation], now: datetime) -> None:
    """Count what happened to the nodes in *judged*, and remark on what a person should know."""
    sums = {
        "EventsReceived": sum(one.events for one in judged.values()),
        "EventsRepeated": sum(one.repeats for one in judged.values()),
        "EventsMatched": sum(one.matches for one in judged.values()),
        "FindingsSent": sum(len(one.findings) for one in judged.values()),
        "ContributionsSent": sum(len(each.entries) for one in judged.values() for each in one.contributions),
        "EventsLost": sum(gap.last - gap.first + 1 for one in judged.values() for gap in one.gaps),
        "ConditionsUnanswered": sum(refused.times for one in judged.values() for refused in one.refused),
        "CountersDropped": sum(one.dropped_counters for one in judged.values()),
        "StatesUnreadable": sum(one.was_unreadable for one in judged.values()),
    }
    for name, value in sums.items():
        if value:
            telemetry.count(name, value)
    for finding in (finding for one in judged.values() for finding in one.findings):
        telemetry.measure_seconds("SeenToDecided", max((now - finding.observed_at).total_seconds(), 0.0))
    for message, fields in list(_remarks(judged))[:MOST_REMARKS]:
        telemetry.warn(message, **fields)


def _remarks(judged: Mapping[NodeKey, Evaluation]) -> Iterable[tuple[str, dict[str, object]]]:
    for key, one in judged.items():
        node = {"cluster": key.cluster, "instance_id": key.instance_id}
        for gap in one.gaps:
            numbers = {"spool": gap.spool, "first": gap.first, "last": gap.last}
            yield "pipeline.gap: events of this spool never arrived", node | numbers
        for refused in one.refused:
            condition = {"policy": refused.policy, "field": refused.field, "path": refused.path, "why": refused.reason}
            yield "a policy could not be asked, which is no match", node | condition | {"times": refused.times}
        if one.was_unreadable:
            yield "the node's state could not be read and starts afresh; counts of earlier events are gone", dict(node)
        if one.dropped_counters:
            yield "the node has too many faulty components to count all", node | {"dropped": one.dropped_counters}
