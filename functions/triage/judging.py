"""Judges the nodes of a batch, each by itself: what breaks the judging of one node must not stop the others.

Decides what becomes of a node whose state or records the evaluator cannot stand, which would be a defect of ours: a
shard that comes again for twelve hours would leave every node behind it unseen. It must not judge events itself.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from functions.ports.triage import NodeKey, Reject, StoredState
from functions.triage.sorting import Arrival, reject_record
from policies.contract.errors import BadInputError
from policies.evaluator import Evaluation, evaluate
from policies.facts.snapshot import NOTHING_KNOWN, Facts
from policies.node_state import UNREADABLE
from policies.rulebook import Rulebook
from policies.warm_state import WarmState


def judge(
    nodes: Mapping[NodeKey, Sequence[Arrival]],
    stored: Mapping[NodeKey, StoredState],
    rulebook: Rulebook,
    now: datetime,
    facts: Mapping[NodeKey, Facts],
) -> tuple[dict[NodeKey, Evaluation], list[Reject]]:
    """Return what became of each node that could be judged, and the records of those that could not."""
    judged: dict[NodeKey, Evaluation] = {}
    spoilt: list[Reject] = []
    for key, arrivals in nodes.items():
        try:
            judged[key] = judge_node(arrivals, stored[key].text, rulebook, now, facts.get(key, NOTHING_KNOWN))
        except Exception as error:  # noqa: BLE001 - see above: whatever it is, it is this node's alone
            spoilt.extend(spoilt_by(error, arrivals))
    return judged, spoilt


def spoilt_by(error: Exception, arrivals: Sequence[Arrival]) -> list[Reject]:
    """Return the records of a node that could not be judged."""
    broken = BadInputError(
        f"judging it broke ({type(error).__name__}: {str(error)[:200]}).",
        hint="Please report it; redrive the record when triage is corrected.",
    )
    return [reject_record(arrival.record, broken) for arrival in arrivals]


def judge_node(
    arrivals: Sequence[Arrival], state: str | WarmState, rulebook: Rulebook, now: datetime, facts: Facts
) -> Evaluation:
    """Return what became of one node; whatever breaks on top of a state and again without one is raised."""
    deliveries = [one.delivery for one in arrivals]
    try:
        return evaluate(deliveries, state=state, rulebook=rulebook, now=now, snapshot=facts)
    except Exception:
        if not state:
            raise
        return evaluate(deliveries, state=UNREADABLE, rulebook=rulebook, now=now, snapshot=facts)
