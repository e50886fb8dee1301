"""A finding about a node that nobody works on: it opens an incident, or is recorded with the reason why nobody acts.

It must not touch the world: an opened incident is persisted first, then its execution is started.
"""

from datetime import datetime

from policies.contract.decisions import Finding
from policies.contract.times import add_seconds
from policies.contract.vocabulary import Action, PolicyMode
from policies.coordination import leases, repeats
from policies.coordination.denying import DENIED, refusal_of
from policies.coordination.evolve import bear, write_line
from policies.coordination.happenings import Line, Opened, Recorded
from policies.coordination.holds import expect
from policies.coordination.incident import Incident, incident_id
from policies.coordination.notes import Alert, FindingNote
from policies.coordination.plan import MAYBE_DEAD, Layout, lay_out
from policies.coordination.rules import STALE_SECONDS, Rules
from policies.coordination.sparing import why_finding_rests
from policies.coordination.states import IncidentStatus
from policies.coordination.whys import Why, of_refusal
from policies.coordination.working import Working
from policies.schedules import permits

ASK_SECONDS = 10.0  # between the end of settling and the hold, which its execution asks for
_TOO_OLD = "too long to act on it without a person"
_ONLY_TOLD = "nothing is to be done"
LONGEST_WAITED_FOR_SECONDS = 120.0  # no run stays down longer for what may come


def open_or_record(work: Working, finding: Finding, rules: Rules, now: datetime) -> None:
    """Open an incident for *finding* and have it started, or record the decision, as one more of its like perhaps."""
    layout = lay_out_finding(finding, rules)
    held = why_held(work, finding, layout, now)
    why = _why(finding, layout, held, now)
    if why.text:
        _record(work, finding, layout, held, why, rules, now)
        return
    open_draft(work, _draft(finding, layout, rules, now), now)


def open_draft(work: Working, draft: Incident, now: datetime, because: str = "") -> None:
    """Open *draft*, which takes the lease of its generation, and have it started; *because* of that, if it is said."""
    lease = leases.acquire(
        work.leases.get(draft.generation),
        cluster=draft.cluster,
        generation=draft.generation,
        incident=draft.id,
        until=draft.deadline,
    )
    work.leases[draft.generation] = lease
    plan = " → ".join(each.rung for each in draft.rungs)
    detail = f"{draft.policy.name}, revision {draft.policy.revision}: {plan}{f'; {because}' if because else ''}"
    work.incidents[draft.id] = bear(draft.model_copy(update={"fence": lease.fence}), Opened(detail), now)
    work.start(work.incidents[draft.id])
    if draft.job and draft.needs_job_stopped:
        waits = min(add_seconds(draft.settle_until, ASK_SECONDS), add_seconds(now, LONGEST_WAITED_FOR_SECONDS))
        work.jobs[draft.job.id] = expect(work.job(draft.job.id), draft.id, waits, now)


def _record(work: Working, finding: Finding, layout: Layout, held: Why, why: Why, rules: Rules, now: datetime) -> None:
    """Record *why* nobody acts on *finding*: what is decided again, for the same reason, is counted and not told."""
    before = repeats.one_more_of(work, finding, why)
    if before is None:
        alert = "notify" if held.text or not permits(finding.policy.schedule, now) else _alert(finding)
        recorded = Recorded(_told(why.text, finding, now), alert)
        incident = bear(_denied(_draft(finding, layout, rules, now), why), recorded, now)
        work.incidents[incident.id] = incident
        repeats.remember(work, finding, why, incident, now)
        return
    counted = repeats.count(before, finding, now)
    repeats.remember_still(work, finding, before, now)
    if counted is before:
        work.retold[before.id] = before
    else:
        work.incidents[before.id] = counted


def _denied(draft: Incident, why: Why) -> Incident:
    """Return *draft* with which incident was denied, if that is why nobody acts."""
    return draft.model_copy(update={"facts": {DENIED: why.refusal.incident}}) if why.refusal else draft


def lay_out_finding(finding: Finding, rules: Rules) -> Layout:
    """Return the rungs that *finding*'s policy asks for."""
    return lay_out(
        finding.policy.do,
        orchestrator=rules.orchestrator_of(finding.node.cluster, finding.job),
        has_job=finding.job is not None,
        maybe_dead=finding.kind in MAYBE_DEAD,
    )


def why_held(work: Working, finding: Finding, layout: Layout, now: datetime) -> Why:
    """Return what holds back whoever would act on *finding*: a switch, or a person with the node in hand, or a no."""
    switched = work.switches.why_not(finding.policy.name) or why_finding_rests(work.snapshot, finding, layout, now)
    if switched or not layout.acts:
        return Why(switched)
    return of_refusal(refusal_of(work, finding, now))


def why_nobody_acts(finding: Finding, layout: Layout, held: Why, now: datetime) -> str:
    """Return why nobody acts on *finding*, empty when somebody does. *held* is what holds it back at this moment."""
    why = _why(finding, layout, held, now).text
    return _told(why, finding, now) if why else ""


def _told(why: str, finding: Finding, now: datetime) -> str:
    """Return what was decided and *why* nobody does it, for people."""
    decided = f"decided: {', '.join(finding.policy.do)}"
    if why == _ONLY_TOLD:
        return decided
    seen = f"seen {_age(finding, now):.0f} s ago, " if why == _TOO_OLD else ""
    return f"{decided}; {seen}{why}"


def _why(finding: Finding, layout: Layout, held: Why, now: datetime) -> Why:
    """Return why nobody acts on *finding*."""
    if finding.policy.mode is not PolicyMode.ACTIVE:
        return Why(f"the policy is {finding.policy.mode} and does not act")
    if held.text:
        return held
    why = ""
    if not permits(finding.policy.schedule, now):
        why = "it is outside its schedule"
    elif finding.late or _age(finding, now) > STALE_SECONDS[finding.policy.evidence]:
        why = _TOO_OLD
    elif layout.unsupported:
        why = f"{', '.join(layout.unsupported)} is carried out by nobody yet"
    elif not layout.acts:
        why = _ONLY_TOLD
    return Why(why)


def _age(finding: Finding, now: datetime) -> float:
    return (now - finding.observed_at).total_seconds()


def _alert(finding: Finding) -> Alert:
    if finding.policy.mode is not PolicyMode.ACTIVE:
        return "notify"
    if Action.PAGE_OPERATOR in finding.policy.do:
        return "page"
    return "none" if set(finding.policy.do) <= {Action.RECORD} else "notify"


def _draft(finding: Finding, layout: Layout, rules: Rules, now: datetime) -> Incident:
    settle_until = add_seconds(now, rules.real(finding.policy.settle_seconds))
    draft = Incident(
        id=incident_id(finding.generation, finding.id),
        cluster=finding.node.cluster,
        generation=finding.generation,
        node=finding.node,
        job=finding.job,
        policy=finding.policy,
        status=IncidentStatus.SETTLING,
        rungs=layout.rungs,
        findings=(FindingNote.of(finding),),
        messages=finding.messages,
        opened_at=now,
        settle_until=settle_until,
        deadline=add_seconds(settle_until, finding.policy.deadline_seconds),
        updated_at=now,
    )
    told = f"{finding.kind}: {finding.messages[0]}" if finding.messages else str(finding.kind)
    seen = write_line(draft, Line("seen", finding.first_observed_at, told))
    return write_line(seen, Line("queued", finding.queued_at))
