"""One more finding about a node that has an incident: common cause, so one answer for all of it.

While the incident settles, the news still shapes its plan: which policy leads, `ranking.py` says. Later only a death
does, as long as the node was not given up; what else is wanted is a person's. It must not know leases or executions.
"""

from collections.abc import Sequence
from datetime import datetime

from policies.contract.decisions import Finding, PolicyPlan
from policies.contract.rungs import Rung
from policies.contract.times import add_seconds
from policies.coordination.approving import waits_for_approval
from policies.coordination.evolve import evolve
from policies.coordination.happenings import Joined
from policies.coordination.incident import Incident
from policies.coordination.notes import FindingNote, PlannedRung
from policies.coordination.plan import EXECUTORS, MAYBE_DEAD, ONLY_WHEN_KEPT, lay_out
from policies.coordination.ranking import deciding, merged, ranked
from policies.coordination.rules import Rules
from policies.coordination.states import IncidentStatus
from policies.coordination.storms import is_of_a_scope

_GIVES_UP = frozenset({Rung.SUSPEND_JOB, Rung.REPLACE_NODE})


def join(incident: Incident, finding: Finding, wanted: Sequence[PlannedRung], rules: Rules, now: datetime) -> Incident:
    """Return *incident* with *finding* among its notes, and its plan as the news wants it.

    *wanted* are the rungs that the finding's policy would carry out here, none when it may not act.
    """
    if incident.status is IncidentStatus.SETTLING and not incident.approved_by:  # a person approved of that plan
        joined = _noted(incident, finding, (), now)
        joined = joined.model_copy(update={"job": joined.job or finding.job})
        return plan_anew(_led_by(joined, finding.policy, rules) if wanted else joined, rules)
    joined = _noted(incident, finding, _unmet(incident, wanted), now)
    if joined.status is IncidentStatus.ACTING and finding.kind in MAYBE_DEAD:
        return _fence_first(joined, rules)
    return joined


def join_recorded(incident: Incident, recorded: Incident, rules: Rules, now: datetime) -> Incident:
    """Return *incident* with what was only *recorded* so far; once it is past its settling it stays as it is."""
    note = recorded.findings[0]
    settles = incident.status is IncidentStatus.SETTLING and not incident.approved_by
    if not settles or incident.knows(note.id) or not incident.has_room(note):
        return incident
    joined = evolve(incident, Joined(note, recorded.messages), now)
    joined = joined.model_copy(update={"job": joined.job or recorded.job})
    return plan_anew(_led_by(joined, recorded.policy, rules), rules)


def _unmet(incident: Incident, wanted: Sequence[PlannedRung]) -> tuple[Rung, ...]:
    """Return what *incident* does not carry out.

    A fence is added below where it helps; what mends a node is needless where the node is given up.
    """
    planned = {each.rung for each in incident.rungs}
    known = planned | {Rung.FENCE_NODE, *ONLY_WHEN_KEPT} if Rung.REPLACE_NODE in planned else planned
    return tuple(each.rung for each in wanted if each.rung not in known)


def _noted(incident: Incident, finding: Finding, unmet: tuple[Rung, ...], now: datetime) -> Incident:
    """Return *incident* with a note; of a storm only the first ones are kept, and until when it went on if asked."""
    note = FindingNote.of(finding)
    if not incident.has_room(note):
        return _lasting(incident, note, now) if waits_for_approval(incident) else incident
    after_all = not incident.status.is_open and not is_of_a_scope(incident.generation)
    note = note.model_copy(update={"late": finding.late or after_all})
    return evolve(incident, Joined(note, finding.messages, unmet), now)


def _lasting(incident: Incident, told: FindingNote, now: datetime) -> Incident:
    """Return *incident* with the last of its notes that is like what was *told* until then.

    A person who approves is refused once the fault was not seen for long, or is over.
    """
    notes = list(incident.findings)
    alike = [at for at, note in enumerate(notes) if note.subject == told.subject]
    if not alike or told.late or notes[alike[-1]].late or notes[alike[-1]].last_observed_at >= told.observed_at:
        return incident
    notes[alike[-1]] = notes[alike[-1]].model_copy(update={"until": told.observed_at})
    return incident.model_copy(update={"findings": tuple(notes), "updated_at": max(incident.updated_at, now)})


def _led_by(incident: Incident, policy: PolicyPlan, rules: Rules) -> Incident:
    """Return *incident* under whichever policy leads now, with what the others that decide ask for as well.

    It settles as long as the one of them that wants to settle longest, from its opening on.
    """
    plans = ranked((*(incident.plans or (incident.policy,)), policy))
    settle = max(plan.settle_seconds for plan in deciding(plans))
    settle_until = add_seconds(incident.opened_at, rules.real(settle))
    return incident.model_copy(
        update={
            "plans": plans,
            "policy": merged(plans),
            "settle_until": settle_until,
            "deadline": add_seconds(settle_until, max(plan.deadline_seconds for plan in deciding(plans))),
        }
    )


def plan_anew(incident: Incident, rules: Rules) -> Incident:
    """Return *incident* with its policy's actions laid out for what is known of it now."""
    layout = lay_out(
        incident.policy.do,
        orchestrator=rules.orchestrator_of(incident.cluster, incident.job),
        has_job=incident.job is not None,
        maybe_dead=any(note.kind in MAYBE_DEAD for note in incident.findings),
    )
    return incident.model_copy(update={"rungs": layout.rungs})


def _fence_first(incident: Incident, rules: Rules) -> Incident:
    """Return *incident* with a fence before the next rung that waits for the node; its silence is ours after that."""
    executors = EXECUTORS.get(rules.orchestrator_of(incident.cluster, incident.job), {})
    planned = [each.rung for each in incident.rungs]
    ahead = [at for at in range(incident.position, len(planned)) if planned[at] in _GIVES_UP]
    if Rung.FENCE_NODE not in executors or Rung.FENCE_NODE in planned or Rung.REPLACE_NODE not in planned:
        return incident
    if not ahead or incident.current is None or incident.current.rung is Rung.REPLACE_NODE:
        return incident
    fence = PlannedRung(rung=Rung.FENCE_NODE, executor=executors[Rung.FENCE_NODE])
    return incident.model_copy(update={"rungs": (*incident.rungs[: ahead[0]], fence, *incident.rungs[ahead[0] :])})
