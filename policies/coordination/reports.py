"""What a report of a rung changes: facts and the next rung, a failure's ladder, or a person.

It must not decide what comes next when all is well (`proceed.py` does).
"""

from datetime import datetime

from policies.contract.decisions import AskMessage, RungReport
from policies.contract.rungs import Rung, RungStatus
from policies.coordination import holds
from policies.coordination.endings import close, happen, leave_run, park, turn
from policies.coordination.halting import why_not
from policies.coordination.happenings import Advanced, Escalated, Faltered, Skipped, StoodAside
from policies.coordination.incident import Incident
from policies.coordination.learning import learn_job, stand_down
from policies.coordination.notes import Failure
from policies.coordination.pacing import note_successor
from policies.coordination.plan import MAYBE_DEAD, RESUME_RUNGS, STOOD_ASIDE, lay_out
from policies.coordination.proceed import Told, ended
from policies.coordination.retreat import go_back, steps_set_aside
from policies.coordination.rules import FALTER_WAIT_SECONDS, MOST_FALTERS, Rules
from policies.coordination.states import IncidentStatus
from policies.coordination.working import Working

FENCED = "fenced"  # how the executors' frame begins the reason when it was not allowed to act
WORTH_LITTLE = frozenset({Rung.COLLECT_EVIDENCE})  # a run does not stay down because its evidence could not be kept


def merge_report(work: Working, incident: Incident, ask: AskMessage, rules: Rules, now: datetime) -> Told | None:
    """Merge what *ask* brings; return an answer when it settles the matter, else None.

    A report of another rung than the current one is a late echo and changes nothing.
    """
    current = incident.current
    if incident.status is IncidentStatus.SETTLING or current is None or current.executor is None:
        return None
    if ask.error:
        return _falter(work, incident, ask.error, rules, now)
    report = ask.report
    if report is None or report.rung is not current.rung:
        return None
    if report.status is RungStatus.FAILED:
        return _fail(work, incident, report, rules, now)
    if report.status is RungStatus.DONE:
        return _advance(work, incident, report, rules, now)
    work.incidents[incident.id] = incident.model_copy(update={"under_way": True})
    return None


def _advance(work: Working, incident: Incident, report: RungReport, rules: Rules, now: datetime) -> Told | None:
    stood_down = stand_down(work, incident, report, now)
    if stood_down:
        return ended(stood_down)
    if report.rung is Rung.RESUME_JOB and incident.job:
        work.jobs[incident.job.id] = holds.let_go(work.job(incident.job.id), incident.id, now)
    if report.rung is Rung.REPLACE_NODE:
        note_successor(work, incident, report.outcome.get("new_instance"), now)
    advanced = learn_job(happen(work, incident, Advanced(report), now), report, rules)
    work.incidents[advanced.id] = advanced
    if advanced.job and not incident.job and advanced.needs_job_stopped:
        # From now on: whoever has stopped the run meanwhile must not let it go before this node is replaced.
        work.jobs[advanced.job.id] = holds.hold(work.job(advanced.job.id), advanced.id)
    if report.outcome.get(STOOD_ASIDE):
        leave_run(work, advanced)
        happen(work, advanced, StoodAside(str(report.outcome[STOOD_ASIDE])), now)
    return None


def _falter(work: Working, incident: Incident, error: str, rules: Rules, now: datetime) -> Told | None:
    if incident.falters >= MOST_FALTERS and incident.current:
        why = f"{incident.current.rung} broke {MOST_FALTERS + 1} times, the last: {error}"
        return _climb(work, incident, why, rules, now)
    happen(work, incident, Faltered(error), now)
    return Told("wait", error, wait=rules.real(FALTER_WAIT_SECONDS))


def _fail(work: Working, incident: Incident, report: RungReport, rules: Rules, now: datetime) -> Told | None:
    if report.reason.startswith(FENCED):
        return Told("fenced", report.reason)
    if report.rung in WORTH_LITTLE:
        happen(work, incident, Skipped(report), now)
        return None
    if report.rung is Rung.CONFIRM_RESUME and _go_back(work, incident, report.reason, rules, now):
        return None
    failure = Failure(rung=report.rung, at=min(report.at, now), behind=len(incident.done))
    failed = incident.model_copy(update={"failures": (*incident.failures, failure)})
    return _climb(work, failed, f"{report.rung} failed: {report.reason}", rules, now)


def _go_back(work: Working, incident: Incident, why: str, rules: Rules, now: datetime) -> bool:
    """Try an earlier checkpoint, unless the run is with others by now or nothing more may be stopped."""
    others = work.job(incident.job.id).others(incident.id) if incident.job else ()
    return not others and not why_not(work, incident, now) and go_back(work, incident, why, rules, now)


def _climb(work: Working, incident: Incident, why: str, rules: Rules, now: datetime) -> Told | None:
    """Go to the ladder's rungs, or to a person when there are none or the node is already behind us."""
    if incident.status is IncidentStatus.RESUMING:
        return ended(_give_resume_up(work, incident, why, now))
    layout = lay_out(
        incident.policy.otherwise,
        orchestrator=rules.orchestrator_of(incident.cluster, incident.job),
        has_job=incident.job is not None,
        maybe_dead=any(note.kind in MAYBE_DEAD for note in incident.findings),
        done=(*incident.done, *(RESUME_RUNGS if incident.facts.get(STOOD_ASIDE) else ())),
    )
    if layout.unsupported:
        why = f"{why}; then {', '.join(layout.unsupported)}, which is carried out by nobody yet"
    if incident.turn or layout.unsupported or not layout.rungs:
        return ended(park(work, incident, why, now))
    turn(work, incident.model_copy(update={"reason": why}), Escalated(layout.rungs, why), now)
    return None


def _give_resume_up(work: Working, incident: Incident, why: str, now: datetime) -> Incident:
    """Park; but a run that others stopped again is theirs to resume, and its silence says nothing."""
    others = work.job(incident.job.id).others(incident.id) if incident.job else ()
    if others:
        return close(work, incident, f"the run was stopped again: its resume is with {', '.join(others)}", now)
    aside = ", ".join(map(str, steps_set_aside(incident)))
    return park(work, incident, f"{why}; set aside before: step {aside}" if aside else why, now)
