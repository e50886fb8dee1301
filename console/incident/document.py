"""An incident as JSON for machines and as pieces of text for people. It must not print."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from console.incident.advising import next_steps
from console.incident.standing import held, left
from console.incident.waiting import why_it_stands
from policies.contract.rungs import Rung
from policies.contract.times import format_time
from policies.contract.vocabulary import RECORDED
from policies.coordination.denials import standing
from policies.coordination.denying import asking
from policies.coordination.incident import Incident
from policies.coordination.states import IncidentStatus


def line_of(incident: Incident) -> dict[str, Any]:
    """Return what the list tells of one incident."""
    return {
        "id": incident.id,
        "cluster": incident.cluster,
        "status": incident.status.value,
        "outcome": incident.outcome or None,
        "node": incident.node.name,
        "instance": incident.node.instance_id,
        "job": incident.job.id if incident.job else None,
        "policy": incident.policy.name,
        "revision": incident.policy.revision,
        "rung": incident.current.rung.value if incident.status.is_open and incident.current else None,
        "reason": why_it_stands(incident) or None,
        "opened_at": format_time(incident.opened_at),
        "updated_at": format_time(incident.updated_at),
    }


def whole(incident: Incident) -> dict[str, Any]:
    """Return everything a person may want to know of one incident; no task token is in it."""
    return {
        **line_of(incident),
        "generation": incident.generation,
        "why": incident.policy.why or None,
        "seen": [note.model_dump(mode="json", exclude_defaults=True) for note in incident.findings],
        "messages": list(incident.messages),
        "attempt": incident.attempt,
        "execution": None if is_recorded(incident) else incident.execution,
        "deadline": format_time(incident.deadline),
        "timeline": [
            {"stage": entry.stage, "at": format_time(entry.at), "seconds": seconds, "detail": entry.detail or None}
            for seconds, entry in timeline(incident)
        ],
        "done": [rung.value for rung in incident.done],
        "to_come": [rung.value for rung in to_come(incident)],
        "facts": dict(facts(incident)),
        "refused": list(refused(incident)),
        "holds": list(held(incident)),
        "denied_until": denied_until(incident),
        "denials": [each.model_dump(mode="json", exclude={"id"}) for each in incident.denials],
        "judgements": [each.model_dump(mode="json", exclude_defaults=True) for each in incident.judgements],
        "next": list(next_steps(incident)),
    }


def is_recorded(incident: Incident) -> bool:
    """Whether nobody ever acted on it, so that it never had an execution to look at."""
    return incident.status is IncidentStatus.CLOSED and incident.outcome == RECORDED and incident.fence == 0


def denied_until(incident: Incident) -> str | None:
    """Return until when nobody is asked again for what was denied; None where nothing was, or for no time."""
    found = standing(incident.denials) if incident.denials else None
    return format_time(found.until) if found and found.at < found.until else None


def asked_about(incident: Incident) -> Sequence[str]:
    """Return what of it a person says yes or no to, each once: what the policies that ask have seen."""
    notes = [note for note in incident.findings if note.policy in asking(incident)]
    return list(dict.fromkeys(" ".join(filter(None, (each.policy, each.kind, each.component))) for each in notes))


def timeline(incident: Incident) -> Sequence[tuple[float, Any]]:
    """Return each entry with the seconds since the first."""
    first: datetime | None = min((entry.at for entry in incident.timeline), default=None)
    return [(round((entry.at - first).total_seconds(), 1), entry) for entry in incident.timeline if first]


def to_come(incident: Incident) -> Sequence[Rung]:
    """Return the rungs that are planned and not done; none once it is closed."""
    if not incident.status.is_open:
        return ()
    return [each.rung for each in incident.rungs[incident.position :]]


def facts(incident: Incident) -> Mapping[str, Any]:
    """Return what the rungs found out, without the refused checkpoints."""
    return {name: value for name, value in sorted(incident.facts.items()) if name != "refused"}


def refused(incident: Incident) -> Sequence[Mapping[str, Any]]:
    """Return the checkpoints that were passed over, newest first, each with its reason."""
    found = incident.facts.get("refused", ())
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list | tuple) else []


def closed_document(incident: Incident, before: Incident) -> dict[str, Any]:
    """Return what a close did; *before* is the incident as it was."""
    return {**line_of(incident), "released": list(held(before)), "left": list(left(before))}
