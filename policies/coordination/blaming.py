"""What is found about a run as a whole, by a policy of higher priority, holds others back.

At one step: what fails there on different hardware is the program's or its data's, and the next node that shows a fault
then is one more victim; a person goes on from there. Without a step (the server of its files does not answer): whoever
would stop the run for what it looks like waits, since that may pass; its nodes' own faults wait for nothing. Decides
for which incidents that counts, and for how long. It is kept with the run's holds. It must not count, nor change an
incident.
"""

from datetime import datetime

from policies.contract.decisions import Contributions, Finding, WideRule
from policies.contract.rungs import ON_HARDWARE
from policies.contract.times import add_seconds
from policies.contract.vocabulary import PolicyMode
from policies.coordination.about_runs import has_only_the_run
from policies.coordination.holds import Blame
from policies.coordination.incident import Incident
from policies.coordination.rules import STALE_SECONDS
from policies.coordination.working import Working
from policies.moments import from_ms

STEP = "job.step"
NEAR_STEPS = 1  # the ranks of one node are a step apart at most: the next collective waits for all
NEAR_SECONDS = 3600.0  # where nobody told the incident its step
MOST_BLAMES = 4


def blame(work: Working, finding: Finding, rule: WideRule, value: str) -> None:
    """Keep with the run that *finding* is about it as a whole; *value* is what its events agree in.

    A rehearsal, or a policy that is switched off, holds nobody back.
    """
    acts = finding.policy.mode is PolicyMode.ACTIVE and not work.switches.why_not(finding.policy.name)
    if not acts or finding.late or finding.job is None or rule.per != "job":
        return
    step = int(value) if rule.same == STEP and value.isdecimal() else None
    lasts = STALE_SECONDS[finding.policy.evidence] if step is None else rule.within_ms / 1000
    told = Blame(
        policy=finding.policy.name,
        priority=finding.policy.priority,
        at=finding.observed_at,
        until=add_seconds(finding.observed_at, lasts),
        step=step,
        why=finding.messages[0] if finding.messages else "",
    )
    job = work.job(finding.job.id)
    others = [one for one in job.blamed if (one.policy, one.step) != (told.policy, told.step)]
    kept = sorted([*others, told], key=lambda one: (one.at, one.policy))[-MOST_BLAMES:]
    work.jobs[job.id] = job.model_copy(update={"blamed": tuple(kept)})


def renew(work: Working, group: Contributions) -> None:
    """Let what was found about runs count on while *group* tells that it lasts."""
    entries = group.entries if group.rule.per == "job" and group.rule.plan.priority and not group.rule.same else ()
    for entry in entries:
        job = work.jobs.get(entry.job.id) if entry.job else None
        if job is None or entry.occurrence is None:
            continue
        seen = from_ms(entry.moment_ms)
        until = add_seconds(seen, STALE_SECONDS[group.rule.plan.evidence])
        blamed = tuple(
            one.model_copy(update={"until": max(one.until, until)}) if one.policy == group.rule.plan.name else one
            for one in job.blamed
        )
        if blamed != job.blamed:
            work.jobs[job.id] = job.model_copy(update={"blamed": blamed})


def waits_for(work: Working, incident: Incident, now: datetime) -> Blame | None:
    """Return what was found about the run that *incident*, about that run alone, waits for; None: nothing."""
    if incident.job is None or incident.approved_by or not has_only_the_run(incident):
        return None
    return next(
        (
            one
            for one in work.job(incident.job.id).blamed
            if one.step is None and now < one.until and one.priority > incident.policy.priority
        ),
        None,
    )


def why_spared(work: Working, incident: Incident, now: datetime) -> str:
    """Return why nothing is done to the node of *incident* by itself, empty when it may be.

    What a person approved of goes on.
    """
    planned = incident.rungs[incident.position :]
    if incident.job is None or incident.approved_by or not ON_HARDWARE & {each.rung for each in planned}:
        return ""
    blamed = work.job(incident.job.id).blamed
    found = next((one for one in reversed(blamed) if now < one.until and _is_of(one, incident)), None)
    if found is None:
        return ""
    return (
        f"run {incident.job.id} fails at step {found.step} whichever node it is ({found.policy}: {found.why}); "
        "look at the program, its data and its checkpoint before anything is done to this node"
    )


def _is_of(found: Blame, incident: Incident) -> bool:
    if found.step is None or found.priority <= incident.policy.priority or incident.job is None:
        return False
    if incident.job.step is not None:
        return abs(incident.job.step - found.step) <= NEAR_STEPS
    return abs((incident.opened_at - found.at).total_seconds()) <= NEAR_SECONDS
