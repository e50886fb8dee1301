"""Keeps the records of policies, and has one put itself in shadow whose acts are too often on sound hardware.

Decides which records a decision reads and brings up to date, and when a policy is trusted no more: as a verdict on one
of its acts comes in, never by silence or because acts grow old. Records are written before the shadow, and that before
the incident that tipped it and pages: a repeat finds out the same. It must not decide what is known of hardware
(`policies/precision/` does).
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from policies.contract.decisions import AnyMessage, AskMessage, CloseMessage, Finding, FindingsMessage, findings_in
from policies.contract.restraints import Trust, VerdictMessage
from policies.contract.rungs import ON_HARDWARE
from policies.coordination.endings import happen
from policies.coordination.happenings import Distrusted
from policies.coordination.incident import Incident
from policies.coordination.pacing import put_in_shadow
from policies.coordination.snapshot import Keys, Snapshot
from policies.coordination.storms import is_of_a_scope
from policies.coordination.switches import SelfShadow
from policies.coordination.working import Working
from policies.facts.history import Past
from policies.precision.acts import ACTIONS, act_of, may_touch
from policies.precision.record import Ground, Record, with_act, with_grounds
from policies.precision.signs import AWS_SAYS, Sign, heard
from policies.precision.verdicts import Precision, precision_of


def records_of_findings(message: FindingsMessage) -> Keys:
    """Return the records of the policies that found something themselves: it may be the same fault once more."""
    told = (each for each in message.findings if not is_of_a_scope(each.generation))
    return Keys(records=frozenset(each.policy.name for each in told if ACTIONS & set(each.policy.do)))


def successor_of(message: AskMessage) -> Keys:
    """Return the history of the instance that *message* says took a node's place: it may have a past already."""
    instance = message.report.outcome.get("new_instance") if message.report else None
    return Keys(histories=frozenset({instance} if isinstance(instance, str) and instance else ()))


def records_behind(snapshot: Snapshot, messages: Collection[AnyMessage]) -> Keys:
    """Return the records that AWS's word may change, and the incidents that findings say something of."""
    findings = list(_findings(messages))
    past = _told_by_aws(snapshot, findings)
    signs = [Sign.of(each) for each in findings]
    told = {incident for record in _read(snapshot) for incident, _ in heard(record, signs)}
    return Keys(
        records=frozenset(each.policy for each in past),
        incidents=frozenset({*told, *(each.incident for each in past)}),
    )


def record_of(incident: Incident) -> Keys:
    """Return the record that *incident* belongs to."""
    return Keys(records=frozenset({incident.policy.name} if may_touch(incident) else ()))


def policies_behind(snapshot: Snapshot, messages: Collection[AnyMessage]) -> frozenset[str]:
    """Return the policies that may lose their trust by *messages* and that these do not name themselves.

    AWS only ever says that hardware was faulty; that may be the verdict that makes a policy's judged acts enough.
    """
    named = {each.incident for each in messages if isinstance(each, VerdictMessage)}
    judged = {each.policy.name for each in snapshot.incidents.values() if each.id in named}
    return frozenset(judged | {each.policy for each in _told_by_aws(snapshot, _findings(messages))})


def keep_records(work: Working, messages: Collection[AnyMessage], now: datetime) -> None:
    """Note what incidents did and what *messages* say of their hardware; put in shadow who lost its trust by that."""
    signs = [Sign.of(each) for each in _findings(messages)]
    named = {each.incident for each in messages if isinstance(each, AskMessage | CloseMessage | VerdictMessage)}
    for policy in work.snapshot.records:
        before = work.records.get(policy)
        record = before or Record(cluster=work.snapshot.cluster, policy=policy)
        mine = [each for each in work.incidents.values() if each.policy.name == policy]
        for incident in mine:
            record = _with_incident(work, record, incident, now)
        told = heard(record, signs)
        record = with_grounds(record, told)
        if record.acts and record is not before:
            work.records[policy] = record
        concerned = named | {incident for incident, _ in told}
        for incident in sorted((each for each in mine if each.id in concerned), key=lambda each: each.id):
            _weigh(work, record, incident, now)


def _with_incident(work: Working, record: Record, incident: Incident, now: datetime) -> Record:
    act = act_of(incident)
    if act is None:
        return record
    record = with_act(record, act, now)
    past = _past(work.snapshot, act.successor) if act.successor else ()
    if not past:
        return record  # as of nearly all: few successors were heard of before
    signs = [Sign(each.policy, each.fault, act.successor, "", each.at) for each in past]
    return with_grounds(record, heard(record, signs))


def _weigh(work: Working, record: Record, incident: Incident, now: datetime) -> None:
    """Have the policy put itself in shadow if it is not trusted by what is known of *incident* as well; page once."""
    act, trust = record.act(incident.id), incident.policy.trust
    if act is None or trust is None or not act.grounds:
        return
    on = work.switches.self_shadow(record.policy)
    lifted = work.switches.lifted_at(record.policy)
    found = precision_of(record, now, lifted)
    is_new = on is None and work.switches.is_active(record.policy) and (lifted is None or act.at > lifted)
    if is_new and is_lost(found, trust):
        put_in_shadow(work, incident, _why(found, trust), now)
        on = work.switches.self_shadow(record.policy)
    if on and on.incident == incident.id and all(entry.stage != "distrusted" for entry in incident.timeline):
        happen(work, incident, Distrusted(_told(on, act.grounds[0])), now)


def is_lost(found: Precision, trust: Trust) -> bool:
    """Whether a policy of that precision is trusted no more."""
    return found.value is not None and found.judged >= trust.of and found.value < trust.at_least


def _why(found: Precision, trust: Trust) -> str:
    return (
        f"only {found.faulty} of {found.judged} judged acts were on faulty hardware, and it is trusted from"
        f" {trust.at_least:.0%} on"
    )


def _told(shadow: SelfShadow, last: Ground) -> str:
    says = f"{last.by or last.grade}{f': {last.why}' if last.why else ''}"
    return (
        f"policy {shadow.policy} has put itself in shadow: {shadow.told}. The last verdict is on this node, which was"
        f" {'faulty' if last.faulty else 'healthy'} ({says}). See its acts before"
        f" `relight policy set-mode {shadow.policy} active` lets it act again"
    )


def _findings(messages: Iterable[AnyMessage]) -> Iterator[Finding]:
    return (each for each in findings_in(messages) if not is_of_a_scope(each.generation))


def _told_by_aws(snapshot: Snapshot, findings: Iterable[Finding]) -> list[Past]:
    """Return what touched the hardware that AWS speaks of in *findings*."""
    told = (each.node.instance_id for each in findings if each.kind in AWS_SAYS)
    return [each for node in told for each in _past(snapshot, node) if ON_HARDWARE & set(each.did)]


def _read(snapshot: Snapshot) -> Iterable[Record]:
    return (record for record in snapshot.records.values() if record)


def _past(snapshot: Snapshot, instance: str) -> tuple[Past, ...]:
    history = snapshot.histories.get(instance)
    return history.past if history else ()
