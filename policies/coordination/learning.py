"""What a report teaches an incident about itself: which run is hit, or that its node is well after all.

A node that says nothing more, or that AWS speaks of, names no job; who isolates it sees whose pods are there. It must
not know how that was found out.
"""

from datetime import datetime

from pydantic import ValidationError

from policies.contract.decisions import RungReport
from policies.contract.events import JobRef
from policies.contract.rungs import Rung
from policies.coordination.endings import close
from policies.coordination.incident import Incident
from policies.coordination.plan import MAYBE_DEAD, lay_out
from policies.coordination.rules import Rules
from policies.coordination.working import Working

JOB = "job"  # the outcome that names the run, as a JobRef
RECOVERED = "recovered"  # the outcome that says why the node needs nothing; nothing was done to it


def job_in(report: RungReport | None) -> JobRef | None:
    """Return the run that *report* names, None when it names none."""
    told = report.outcome.get(JOB) if report and report.rung is Rung.ISOLATE else None
    try:
        return JobRef.model_validate(told) if told else None
    except ValidationError:
        return None


def learn_job(incident: Incident, report: RungReport, rules: Rules) -> Incident:
    """Return *incident*, advanced by *report*, with the run that it names, and the rungs that the run needs as well."""
    job = job_in(report)
    if job is None or incident.job is not None or incident.turn:
        return incident
    layout = lay_out(
        incident.policy.do,
        orchestrator=rules.orchestrator_of(incident.cluster, job),
        has_job=True,
        maybe_dead=any(note.kind in MAYBE_DEAD for note in incident.findings),
        done=incident.done,
    )
    behind = incident.rungs[: incident.position]
    return incident.model_copy(update={"job": job, "rungs": (*behind, *layout.rungs)})


def stand_down(work: Working, incident: Incident, report: RungReport, now: datetime) -> Incident | None:
    """Close an incident whose node turned out well before anything was done to it; None when it did not."""
    why = report.outcome.get(RECOVERED) if report.rung is Rung.ISOLATE else None
    return close(work, incident, str(why), now) if why else None
