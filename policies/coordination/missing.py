"""Keeps the restarts that nobody saw coming, as findings and persons tell of them.

Decides what of a decision's documents is evidence about a restart: what its messages found, what was found within the
hour, and what open incidents of its run stand on. Which policies found it too late is known of those alone whose word
came after that of the end, or whose incident is open. It must not decide what makes a miss (`policies/precision/`
does).
"""

from collections.abc import Collection, Iterable
from datetime import datetime

from policies.contract.decisions import AnyMessage, FindingsMessage, findings_in
from policies.contract.restraints import VerdictMessage
from policies.coordination.incident import Incident
from policies.coordination.judgements import missed_by
from policies.coordination.snapshot import Keys, Snapshot
from policies.coordination.storms import is_of_a_scope
from policies.coordination.working import Working
from policies.facts.recent import Sign, Span
from policies.precision.misses import Misses, Restart, with_restarts
from policies.precision.restarts import BEFORE, RESTARTS, TOGETHER, Evidence, is_about, restart_in, with_evidence

_ENDS = frozenset(kind.value for kind in RESTARTS)
_THE_ONE = ""  # a cluster has one document of misses


def misses_of_messages(messages: Iterable[AnyMessage]) -> Keys:
    """Return the document, where *messages* may say something of it."""
    say = any(
        isinstance(each, VerdictMessage) or (isinstance(each, FindingsMessage) and each.findings) for each in messages
    )
    return Keys(misses=frozenset({_THE_ONE} if say else ()))


def runs_to_look_up(snapshot: Snapshot, messages: Iterable[AnyMessage]) -> frozenset[str]:
    """Return the runs of which it matters whether an incident about them is open: their end is news."""
    kept = snapshot.misses.get(_THE_ONE)
    known = {each.id for each in kept.restarts} if kept else set()
    ends = (restart_in(each) for each in findings_in(messages))
    return frozenset(each.job for each in ends if each and each.id not in known)


def keep_misses(work: Working, messages: Collection[AnyMessage], now: datetime) -> None:
    """Note the restarts that *messages* tell of, and what they and persons say of these and of earlier ones."""
    if _THE_ONE not in work.snapshot.misses:
        return
    before = work.misses.get(_THE_ONE)
    misses = before or Misses(cluster=work.snapshot.cluster)
    restarts = {each.id: each for each in misses.restarts}
    findings = list(findings_in(messages))
    evidence = [Evidence.of(each) for each in findings]
    for restart in filter(None, map(restart_in, findings)):
        if restart.id not in restarts:
            restarts[restart.id] = _looked_at(work, restart)
    for name, restart in restarts.items():
        for each in evidence:
            restart = with_evidence(restart, each)  # noqa: PLW2901 - one after the other
        restarts[name] = restart
    _name(restarts, work.incidents.values())
    noted = with_restarts(misses, tuple(restarts.values()), now)
    if noted is not misses:
        work.misses[_THE_ONE] = noted


def _looked_at(work: Working, restart: Restart) -> Restart:
    """Return *restart* with what was found before its news came: within the hour, or by what is open still."""
    recent = work.recents.get("")
    if any(_foretells(sign, spans, restart) for sign, spans in (recent.came() if recent else ())):
        restart = restart.model_copy(update={"foreseen": True})
    for incident in work.incidents.values():
        if incident.status.is_open and not is_of_a_scope(incident.generation):
            restart = _by_incident(restart, incident)
    return restart


def _foretells(sign: Sign, spans: Iterable[Span], restart: Restart) -> bool:
    """Whether the fault, which came in those *spans*, came in the half hour before, or together with the end.

    Between the ends of a span there is no pause of half an hour, so that one that begins before and ends after has it.
    """
    here = sign.instance == restart.node or (sign.job != "" and sign.job == restart.job)
    if not here or sign.fault in _ENDS:
        return False
    return any(since - restart.at <= TOGETHER and restart.at - until <= BEFORE for since, until in spans)


def _by_incident(restart: Restart, incident: Incident) -> Restart:
    job = incident.job.id if incident.job else ""
    for note in incident.findings:
        each = Evidence.noted(note, incident.node.instance_id, job, incident.opened_at)
        if is_about(each, restart) and incident.opened_at - restart.at <= TOGETHER:
            restart = restart if restart.foreseen else restart.model_copy(update={"foreseen": True})
        restart = with_evidence(restart, each)
    return restart


def _name(restarts: dict[str, Restart], incidents: Iterable[Incident]) -> None:
    """Put in what persons say of *incidents*: a miss that has a name is one, foreseen or not."""
    for incident in incidents:
        named = missed_by(incident.judgements)
        if named:
            first = incident.findings[0] if incident.findings else None
            restarts[incident.id] = Restart(
                id=incident.id,
                job=incident.job.id if incident.job else "",
                node=incident.node.instance_id,
                kind=first.kind.value if first else "",
                at=incident.opened_at,
                named=named,
            )
        else:
            restarts.pop(incident.id, None)
