"""What is found about a run as a whole, by a policy of higher priority, holds back what would be done to its nodes.

The same step that fails on different hardware is the program's or its data's: the next node that shows a fault there is
one more victim. Decides for which incidents that counts, and for how long; a person goes on from there. It is kept with
the run's holds. It must not count, nor touch an incident about the run alone.
"""

from datetime import datetime

from policies.contract.decisions import Finding, WideRule
from policies.contract.rungs import Rung
from policies.contract.times import add_seconds
from policies.contract.vocabulary import PolicyMode
from policies.coordination.holds import Blame
from policies.coordination.incident import Incident
from policies.coordination.rules import STALE_SECONDS
from policies.coordination.working import Working

STEP = "job.step"
NEAR_STEPS = 1  # the ranks of one node are a step apart at most: the next collective waits for all
NEAR_SECONDS = 3600.0  # where nobody told the incident its step
MOST_BLAMES = 4
ON_HARDWARE = frozenset({Rung.ISOLATE, Rung.FENCE_NODE, Rung.RESTART_SERVICE, Rung.RESET_GPU, Rung.REPLACE_NODE})


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
    step = "" if found.step is None else f" at step {found.step}"
    return (
        f"run {incident.job.id} fails{step} whichever node it is ({found.policy}: {found.why}); "
        "look at the program, its data and its checkpoint before anything is done to this node"
    )


def _is_of(found: Blame, incident: Incident) -> bool:
    if found.priority <= incident.policy.priority or incident.job is None:
        return False
    if found.step is not None and incident.job.step is not None:
        return abs(incident.job.step - found.step) <= NEAR_STEPS
    return abs((incident.opened_at - found.at).total_seconds()) <= NEAR_SECONDS
