"""What a node's history keeps of its incidents: each one's entry follows from its document alone.

Decides what is kept and for how long. The same incidents always give the same history, in whatever order they are
noted and however often. It must not know what is made of it (`policies/facts/history.py` does).
"""

from datetime import datetime

from policies.contract.rungs import MENDS, TAKES_OUT, Rung
from policies.contract.vocabulary import RECORDED, TOUCHES_NOTHING
from policies.coordination.about_runs import has_only_the_run
from policies.coordination.incident import Incident
from policies.coordination.notes import STAGE_OF
from policies.coordination.storms import is_of_a_scope
from policies.facts.faults import fault_of
from policies.facts.history import MONTH, History, Past

MOST_ENTRIES = 64  # 16 KiB; a node with so many incidents in 28 days is known well enough
_KEPT = TAKES_OUT | MENDS | {Rung.SUSPEND_JOB, Rung.RESTART_PROCESS, Rung.RELEASE_NODE}
_REPAIRED = frozenset(STAGE_OF[rung] for rung in MENDS if rung in STAGE_OF)


def note(history: History | None, incident: Incident, now: datetime) -> History | None:
    """Return *history* with *incident* as it is, without what is older than it asks for; None when there is nothing."""
    before = history.past if history else ()
    entry = past_of(incident)
    others = [each for each in before if entry is None or each.incident != entry.incident]
    known = [each for each in (*others, *([entry] if entry else ())) if now - each.at <= MONTH]
    kept = sorted(sorted(known, key=_worth)[-MOST_ENTRIES:], key=lambda each: (each.at, each.incident))
    if history is None:
        return _begun(incident, tuple(kept)) if kept else None
    return history if tuple(kept) == before else history.model_copy(update={"past": tuple(kept)})


def past_of(incident: Incident) -> Past | None:
    """Return what is kept of *incident*; None for what is about no node, or touches nothing."""
    recorded = incident.outcome == RECORDED
    if is_of_a_scope(incident.generation) or (recorded and frozenset(incident.policy.do) <= TOUCHES_NOTHING):
        return None
    first = incident.findings[0] if incident.findings else None
    repaired = [entry.at for entry in incident.timeline if entry.stage in _REPAIRED]
    return Past(
        incident=incident.id,
        policy=incident.policy.name,
        fault=fault_of(first.kind, first.attributes) if first else "",
        at=incident.opened_at,
        did=tuple(sorted(_KEPT & set(incident.done))),
        repaired_at=max(repaired, default=None),
        job=incident.job.id if incident.job else "",
        outcome=incident.outcome,
        recorded=recorded,
        of_run=has_only_the_run(incident),
        until=min(first.until, incident.updated_at) if first and first.until and recorded else None,
    )


def _begun(incident: Incident, past: tuple[Past, ...]) -> History:
    return History(cluster=incident.cluster, instance=incident.node.instance_id, past=past)


def _worth(entry: Past) -> tuple[bool, datetime, str]:
    """Where there is no room for all, what was only decided goes first, then the oldest."""
    return not entry.is_recorded, entry.at, entry.incident
