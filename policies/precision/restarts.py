"""Which findings tell that a run ended, and what else that was found says of it: foreseen, found too late, or neither.

Decides both by the nodes' own moments, so that it matters little which of them arrives first. It must not know
documents.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from policies.contract.decisions import Finding
from policies.contract.vocabulary import Kind
from policies.coordination.notes import FindingNote
from policies.coordination.storms import is_of_a_scope
from policies.precision.misses import Restart

RESTARTS = frozenset({Kind.JOB_FAILED, Kind.PROCESS_EXITED, Kind.TRAINING_KILLED})
BEFORE = timedelta(minutes=30)
# A process dies within seconds of what kills it, and the clocks of two nodes are corrected by arrival: what is found in
# the minute after an end was not missed.
TOGETHER = timedelta(minutes=1)
TOO_LATE_WITHIN = timedelta(hours=24)
MOST_POLICIES = 8  # of one restart: a dying node meets dozens, and two hundred restarts are in one item of 400 KB


@dataclass(frozen=True)
class Evidence:
    """What *policy* found on a node of a run (no run: it was not known), from the first sign of it to the last."""

    policy: str
    kind: Kind
    node: str
    job: str
    first: datetime
    last: datetime
    decided: datetime
    late: bool

    @classmethod
    def of(cls, finding: Finding) -> "Evidence":
        """Return what *finding* tells."""
        return cls(
            policy=finding.policy.name,
            kind=finding.kind,
            node=finding.node.instance_id,
            job=finding.job.id if finding.job else "",
            first=finding.first_observed_at,
            last=finding.observed_at,
            decided=finding.decided_at,
            late=finding.late,
        )

    @classmethod
    def noted(cls, note: FindingNote, node: str, job: str, decided: datetime) -> "Evidence":
        """Return what *note* of an incident about *node* and *job* tells."""
        on = note.node or node
        return cls(note.policy, note.kind, on, job, note.first_observed_at, note.last_observed_at, decided, note.late)


def restart_in(finding: Finding) -> Restart | None:
    """Return the end of a run that *finding* tells of; None when it tells of none.

    Of ranks only the first counts: a run whose rank 0 left has ended. That an end was nobody's wish the agent sees to.
    """
    if finding.kind not in RESTARTS or finding.job is None or is_of_a_scope(finding.generation):
        return None
    if finding.kind is Kind.PROCESS_EXITED and 0 not in {finding.job.rank, finding.attributes.get("rank")}:
        return None
    return Restart(
        id=finding.id,
        job=finding.job.id,
        node=finding.node.instance_id,
        kind=finding.kind.value,
        at=finding.observed_at,
    )


def is_about(evidence: Evidence, restart: Restart) -> bool:
    """Whether *evidence* is a fault on a node of the run that ended: its end itself is none."""
    here = evidence.node == restart.node or (evidence.job != "" and evidence.job == restart.job)
    return here and evidence.kind not in RESTARTS


def with_evidence(restart: Restart, evidence: Evidence) -> Restart:
    """Return *restart* with what *evidence* says of it."""
    if not is_about(evidence, restart):
        return restart
    after = evidence.last - restart.at > TOGETHER
    if not evidence.late and restart.at - evidence.last <= BEFORE and not after:
        return restart if restart.foreseen else restart.model_copy(update={"foreseen": True})
    stood = evidence.first < restart.at and (evidence.late or after)
    if not stood or evidence.decided - restart.at > TOO_LATE_WITHIN or evidence.policy in restart.policies:
        return restart
    policies = tuple(sorted({*restart.policies, evidence.policy}))[:MOST_POLICIES]
    return restart if policies == restart.policies else restart.model_copy(update={"policies": policies})
