"""One pure decision over a whole batch of messages of one cluster: what to read, then what to write and to do.

A message that cannot be decided fails alone and leaves no trace in the decision. It must not know who calls it, nor
keep anything between two calls.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from policies.contract.decisions import AnyMessage, AskMessage, CloseMessage, Finding, FindingsMessage, findings_in
from policies.contract.events import JobRef
from policies.contract.restraints import ApproveMessage, VerdictMessage
from policies.coordination import asking_again, repeats
from policies.coordination.about_runs import generation_of_run, to_read
from policies.coordination.approving import take_approval
from policies.coordination.asks import take_ask
from policies.coordination.cancelling import places_of, take_cancellations
from policies.coordination.closing import take_close
from policies.coordination.contributing import generations_of, groups_of, hear, window_keys
from policies.coordination.denying import is_recorded_for_a_no
from policies.coordination.findings import take_contributions, take_findings
from policies.coordination.incident import Incident, incident_id
from policies.coordination.judging import take_verdict
from policies.coordination.learning import job_in
from policies.coordination.limits import limits_of
from policies.coordination.missing import keep_misses, misses_of_messages
from policies.coordination.pacing import acts_scope
from policies.coordination.past import keep_past, past_of_findings
from policies.coordination.rules import Rules
from policies.coordination.snapshot import Decision, Keys, Snapshot
from policies.coordination.sparing import why_left_alone
from policies.coordination.sweep import is_overdue, take_sweep, to_look_up
from policies.coordination.trusting import (
    keep_records,
    policies_behind,
    record_of,
    records_behind,
    records_of_findings,
    successor_of,
)
from policies.coordination.working import Working


def keys_of(messages: Collection[AnyMessage], listed: Iterable[str] = ()) -> Keys:
    """Return what *messages* name themselves; *listed* are the ids that a sweep looks at."""
    incidents = set(listed)
    leases: set[str] = set()
    jobs: set[str] = set()
    past = Keys()
    for message in messages:
        if isinstance(message, AskMessage | CloseMessage | ApproveMessage | VerdictMessage):
            incidents.add(message.incident)
            past |= successor_of(message) if isinstance(message, AskMessage) else Keys()
            learned = job_in(message.report) if isinstance(message, AskMessage) else None
            jobs.update({learned.id} if learned else ())
        elif isinstance(message, FindingsMessage):
            incidents.update(incident_id(each.generation, each.id) for each in message.findings)
            leases.update(each.generation for each in message.findings)
            leases.update(each.generation for each in message.cancellations)
            past |= past_of_findings(message) | records_of_findings(message)
            runs = {each.id: generation_of_run(each.job) for each in message.findings if each.job}
            leases.update(runs.values())
            incidents.update(incident_id(run, finding) for finding, run in runs.items())
            # A finding may tell a settling incident its job, and that incident may ask in the same batch.
            jobs.update(each.job.id for each in message.findings if each.job)
    named = Keys(incidents=frozenset(incidents), leases=frozenset(leases), jobs=frozenset(jobs))
    return named | past | misses_of_messages(messages) | _wide_keys(messages)


def _wide_keys(messages: Collection[AnyMessage]) -> Keys:
    """Return the windows that are contributed to, and the leases and jobs of what may be found there."""
    leases: set[str] = set()
    jobs: set[str] = set()
    for group in groups_of(messages):
        leases.update(generations_of(group))
        runs = [entry.job for entry in group.entries if entry.job] if group.rule.per == "job" else []
        leases.update(generation_of_run(job) for job in runs)
        jobs.update(job.id for job in runs)
    return Keys(leases=frozenset(leases), jobs=frozenset(jobs), windows=window_keys(messages))


def _found(snapshot: Snapshot, messages: Collection[AnyMessage], now: datetime) -> Keys:
    """Return the incidents that contributions may open or have opened: which ones, only the windows tell."""
    found = [
        finding
        for heard in hear(snapshot.windows, groups_of(messages), snapshot.cluster, now)
        for finding in heard.findings
    ]
    generations = [(each, name) for each in found for name in (each.generation, *map(generation_of_run, _jobs(each)))]
    named = Keys(
        incidents=frozenset(incident_id(name, each.id) for each, name in generations),
        histories=frozenset(each.node.instance_id for each in found),
    )
    return named | repeats.behind(snapshot, (*findings_in(messages), *found))


def _jobs(finding: Finding) -> list[JobRef]:
    return [finding.job] if finding.job else []


def keys_behind(snapshot: Snapshot, messages: Collection[AnyMessage], now: datetime, rules: Rules) -> Keys:
    """Return what the documents read so far point to: holders of leases, and the guards of incidents that may move."""
    keys = Keys(incidents=frozenset(lease.incident for lease in snapshot.leases.values() if lease.incident))
    if any(isinstance(message, FindingsMessage) for message in messages):
        keys |= Keys(incidents=frozenset(name for job in snapshot.jobs.values() for name in to_read(job)))
        keys |= _found(snapshot, messages, now) | records_behind(snapshot, messages)
    named = {
        message.incident
        for message in messages
        if isinstance(message, AskMessage | CloseMessage | ApproveMessage | VerdictMessage)
    }
    silent = {incident.id for incident in to_look_up(snapshot.incidents.values(), now, rules)}
    for incident in snapshot.incidents.values():
        looked_at = incident.id in named or incident.id in silent or is_overdue(incident, now)
        halted = snapshot.switches.why_not(incident.policy.name) or _in_hand(snapshot, incident, now)
        if looked_at or halted:
            keys |= _guards(incident) | record_of(incident)
    return (keys | asking_again.behind(snapshot, messages)) - _read(snapshot)


def _in_hand(snapshot: Snapshot, incident: Incident, now: datetime) -> bool:
    """Whether a person has the node of a running *incident* in hand, so that it is stopped."""
    is_running = incident.status.is_running
    return is_running and bool(why_left_alone(snapshot, incident.node.instance_id, incident.generation, now))


def policies_of(snapshot: Snapshot, messages: Collection[AnyMessage]) -> frozenset[str]:
    """Return the policies whose switches *messages* depend on: of new findings, and of incidents that may move."""
    names: set[str] = set()
    for message in messages:
        if isinstance(message, FindingsMessage):
            names.update(finding.policy.name for finding in message.findings)
            names.update(group.rule.plan.name for group in message.contributions)
        elif not isinstance(message, CloseMessage | ApproveMessage | VerdictMessage):
            names.update(each.policy.name for each in snapshot.incidents.values() if _may_move(each))
    return frozenset(names) | policies_behind(snapshot, messages)


def _may_move(incident: Incident) -> bool:
    return incident.status.is_running or is_recorded_for_a_no(incident)


def decide(snapshot: Snapshot, messages: Sequence[AnyMessage], now: datetime, *, rules: Rules) -> Decision:
    """Return what follows from *messages*, in their order. *snapshot* holds what the two functions above asked for."""
    work = Working.on(snapshot)
    refused: dict[int, Exception] = {}
    for index, message in enumerate(messages):
        trial = work.copy()
        trial.index = index
        try:
            _take(trial, message, rules, now)
        except Exception as error:  # noqa: BLE001 - one message that breaks a rule must not take the others with it
            refused[index] = error
        else:
            work = trial
    taken = [message for index, message in enumerate(messages) if index not in refused]
    keep_past(work, taken, now)
    keep_records(work, taken, now)
    keep_misses(work, taken, now)
    return work.decision(refused)


def _take(work: Working, message: AnyMessage, rules: Rules, now: datetime) -> None:
    if isinstance(message, AskMessage):
        take_ask(work, message, rules, now)
    elif isinstance(message, FindingsMessage):
        take_findings(work, message, rules, now)
        take_contributions(work, message, rules, now)
        take_cancellations(work, message, now)
    elif isinstance(message, CloseMessage):
        take_close(work, message, now)
    elif isinstance(message, ApproveMessage):
        take_approval(work, message, now)
    elif isinstance(message, VerdictMessage):
        take_verdict(work, message, now)
    else:
        take_sweep(work, rules, now)


def _guards(incident: Incident) -> Keys:
    return Keys(
        leases=frozenset({incident.generation}) | places_of(incident),
        jobs=frozenset({incident.job.id} if incident.job else ()),
        budgets=frozenset({*limits_of(incident), acts_scope(incident.policy.name)}),
        histories=frozenset({incident.node.instance_id}),
    )


def _read(snapshot: Snapshot) -> Keys:
    return Keys(
        frozenset(snapshot.incidents),
        frozenset(snapshot.leases),
        frozenset(snapshot.jobs),
        frozenset(snapshot.budgets),
        frozenset(snapshot.windows),
        frozenset(snapshot.histories),
        frozenset(snapshot.recents),
        frozenset(snapshot.records),
        frozenset(snapshot.misses),
    )
