"""What becomes of an open incident that may not act any more.

Its policy was turned off or set to shadow, everything was stopped, a person has its node in hand or said no. Who
touched nothing yet is called off. Who acted stops before its next rung that takes something away, and a person is
paged; the rungs that only bring the run back go on, so that no run stays down for a switch. It must not read policies.
"""

from datetime import datetime

from policies.contract.rungs import Rung
from policies.contract.vocabulary import RECORDED
from policies.coordination.denying import why_all_denied
from policies.coordination.endings import happen, let_all_go, owns_lease, park
from policies.coordination.happenings import CalledOff
from policies.coordination.incident import Incident
from policies.coordination.pacing import is_noted
from policies.coordination.sparing import why_left_alone
from policies.coordination.states import IncidentStatus
from policies.coordination.working import Working
from policies.schedules import permits

BRINGS_BACK = frozenset({Rung.VERIFY_NODE, Rung.CHOOSE_CHECKPOINT, Rung.RESUME_JOB, Rung.CONFIRM_RESUME})


def why_not(work: Working, incident: Incident, now: datetime) -> str:
    """Return why the incident may not act now, empty when it may."""
    begun = incident.acted or is_noted(work, incident)
    switched = work.switches.why_not(incident.policy.name, begun=begun) or _why_left_alone(work, incident, now)
    if switched or begun:
        return switched
    denied = why_all_denied(work, incident, now)
    if denied or permits(incident.policy.schedule, now):
        return denied
    return f"policy {incident.policy.name} is outside its schedule"


def _why_left_alone(work: Working, incident: Incident, now: datetime) -> str:
    return why_left_alone(work.snapshot, incident.node.instance_id, incident.generation, now)


def why_stopped(work: Working, incident: Incident, now: datetime) -> str:
    """Return why an incident that acted may not go on with its current rung, empty when it may.

    A replacement under way goes on: the instance is given up already, and what is left is to wait for its successor.
    """
    current, why = incident.current, why_not(work, incident, now)
    if not why or current is None or current.executor is None or current.rung in BRINGS_BACK:
        return ""
    if current.rung is Rung.REPLACE_NODE and incident.under_way:
        return ""
    stopped = incident.job is not None and Rung.SUSPEND_JOB in incident.done
    run = f"; run {incident.job.id} is stopped and stays so" if incident.job and stopped else ""
    return f"{why}: stopped at {current.rung}{run}"


def call_off(work: Working, incident: Incident, why: str, now: datetime) -> Incident:
    """Close an incident that touched nothing; if another policy saw the same node, somebody has to know.

    Of a policy that put itself in shadow, the incident that was too many wakes somebody, and no later one does. Nobody
    is woken for a node that a person has in hand.
    """
    let_all_go(work, incident, RECORDED, now)
    others = {note.policy for note in incident.findings} - {incident.policy.name}
    also = f"; {', '.join(sorted(others))} saw this node too, and nobody acts on it" if others else ""
    shadow = work.switches.self_shadow(incident.policy.name)
    first = shadow is not None and shadow.incident == incident.id
    if first:
        also = f"{also}. See what it did; `relight policy set-mode {incident.policy.name} active` lets it act again"
    wakes = first or (bool(others) and not _why_left_alone(work, incident, now))
    called_off = CalledOff(f"{why}; nothing was touched{also}", "page" if wakes else "notify")
    return happen(work, incident, called_off, now)


def halt(work: Working, incident: Incident, now: datetime) -> bool:
    """Stop what must not go on, although nobody asks for it just now; return whether that was so.

    A replacement that was handed to its executor is left to it: only its next ask tells whether it has begun.
    """
    why = why_not(work, incident, now)
    if not why or not owns_lease(work, incident):
        return False
    if incident.status is IncidentStatus.SETTLING:
        call_off(work, incident, why, now)
        return True
    stopped = why_stopped(work, incident, now)
    handed = incident.ask is not None and incident.ask.answer.rung is Rung.REPLACE_NODE
    if not stopped or (handed and incident.current and incident.current.rung is Rung.REPLACE_NODE):
        return False
    park(work, incident, stopped, now)
    return True
