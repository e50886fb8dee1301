"""A policy that asks first: its incident parks before its first act, and a person says whether it may go on.

Decides whether a yes still counts: in time, and as long as what was seen justifies an act. It goes on once, with its
next attempt, whoever says it again. A no ends it and holds for a while (`denying.py`); how long may be said anew. It
must not undo or do anything in the world.
"""

from datetime import datetime

from policies.contract.errors import BadInputError
from policies.contract.restraints import ApproveMessage
from policies.contract.times import add_seconds
from policies.coordination import denials
from policies.coordination.cancelling import why_cleared
from policies.coordination.denying import DENIED, allow, of_before, refuse, words_with
from policies.coordination.endings import happen, let_all_go, owns_lease, park, refence
from policies.coordination.happenings import Approved, Closed, DeniedAgain, NotApproved
from policies.coordination.incident import Incident
from policies.coordination.rules import STALE_SECONDS
from policies.coordination.states import IncidentStatus
from policies.coordination.working import Working


def ask_first(work: Working, incident: Incident, now: datetime, because: str = "") -> Incident:
    """Park *incident* until a person approves, *because* of that, and keep until when a yes counts."""
    until = add_seconds(now, incident.policy.approve_within_seconds)
    usual = f"policy {incident.policy.name} wants a person's approval before it acts; it counts"
    why = f"{f'{because}; an approval counts' if because else usual} until {until:%H:%M:%S} UTC"
    before = of_before(work, incident)
    told = f"{why}; {before}" if before else why
    return park(work, incident.model_copy(update={"approve_until": until}), told, now)


def waits_for_approval(incident: Incident) -> bool:
    """Whether a person's answer is what *incident* waits for."""
    return incident.status is IncidentStatus.PARKED and incident.approve_until is not None and not incident.approved_by


def take_approval(work: Working, message: ApproveMessage, now: datetime) -> None:
    """Let the incident go on, or close it as denied; one that waits for no answer stays as it is. BadInputError.

    Of one that was denied before, what is said of it later counts.
    """
    incident = work.incidents.get(message.incident)
    if incident is None:
        raise BadInputError(
            f"there is no incident {message.incident} in cluster {message.cluster}.", hint="Check id and cluster."
        )
    if not message.approved and may_be_denied(incident):
        _deny(work, incident, message, now)
    elif not waits_for_approval(incident):
        _finish(work, incident)
    elif too_late := why_too_late(work, incident, now):
        _refuse(work, incident, f"{_said(message)}; it does not go on: {too_late}", now)
    else:
        _go_on(work, incident, message, now)


def may_be_denied(incident: Incident) -> bool:
    """Whether a no to *incident* counts: it waits for an answer, or was denied and may be for another time."""
    return waits_for_approval(incident) or incident.outcome == DENIED


def why_too_late(work: Working, incident: Incident, now: datetime) -> str:
    """Return why a yes counts no more, empty when it does."""
    assert incident.approve_until is not None
    if now >= incident.approve_until:
        return f"it counted until {incident.approve_until:%Y-%m-%d %H:%M:%S} UTC"
    over = why_cleared(work, incident)
    if over:
        return f"its reason is gone: {over}"
    evidence = incident.policy.evidence
    seen = max((note.last_observed_at for note in incident.findings if not note.late), default=incident.opened_at)
    age = (now - seen).total_seconds()
    if age > STALE_SECONDS[evidence]:
        return (
            f"the fault was last seen {age:.0f} s ago, and {evidence} evidence counts for {STALE_SECONDS[evidence]:g} s"
        )
    return "" if owns_lease(work, incident) else f"the lease of {incident.generation} is somebody else's"


def _go_on(work: Working, incident: Incident, message: ApproveMessage, now: datetime) -> None:
    """Start its next attempt under a new fence; its deadline begins anew, since it waited for a person."""
    deadline = add_seconds(now, incident.policy.deadline_seconds)
    approved = incident.model_copy(update={"approved_by": message.by, "deadline": deadline, "reason": ""})
    approved = refence(work, approved)
    allow(work, approved)
    work.start(happen(work, approved, Approved(_said(message)), now))


def _deny(work: Working, incident: Incident, message: ApproveMessage, now: datetime) -> None:
    """Keep the no, and end an incident that waits: the no is there before its lease is let go."""
    words = words_with(incident, message, now)
    unsaid = message.at is None and not incident.status.is_open  # who repeats it does not tell when it was said
    if words == incident.denials or unsaid:
        _finish(work, incident)
        return
    denied = incident.model_copy(update={"denials": words})
    refuse(work, denied, message.seen, now)
    told = denials.outcome_told(words)
    if incident.status.is_open:
        let_all_go(work, denied, DENIED, now)
        happen(work, denied, Closed(DENIED, told), now)
    elif told != incident.reason:
        happen(work, denied, DeniedAgain(told), now)
    else:
        work.incidents[incident.id] = denied


def _refuse(work: Working, incident: Incident, why: str, now: datetime) -> None:
    last = incident.timeline[-1]
    if (last.stage, last.detail) == ("not_approved", why):
        work.retold[incident.id] = incident
    else:
        happen(work, incident, NotApproved(why), now)


def _finish(work: Working, incident: Incident) -> None:
    """A repeat: do again what a crash may have left undone."""
    work.retold[incident.id] = incident
    if incident.status.is_running and incident.started < incident.attempt:
        work.start(incident)


def _said(message: ApproveMessage) -> str:
    return f"by {message.by}: {message.reason}" if message.reason else f"by {message.by}"
