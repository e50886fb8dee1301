"""What `relight policy explain` prints: text for people, JSON for machines. It must not read anything."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from console.saying import say
from policies.contract.events import Scalar
from policies.contract.times import format_time
from policies.coordination.incident import Incident
from policies.explain.explaining import Explained
from policies.explain.verdicts import Outcome, Verdict
from policies.expressions.attributes import NUMERIC
from policies.findings import scope_of

if TYPE_CHECKING:
    from console.policy.account import Told
    from console.policy.judges import Judges

_INDENT = " " * 16
_SHORT = 12
_ORDER = list(Outcome)


@dataclass(frozen=True)
class Wanted:
    """``policy``: only this one; ``every``: those too that ask for other things; ``of_files``: none has a revision."""

    as_json: bool = False
    policy: str = ""
    every: bool = False
    of_files: bool = False

    def of(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """Return what is asked for, what fired first."""
        mine = [each for each in verdicts if self.policy in {"", each.policy}]
        return sorted(mine, key=lambda each: (_ORDER.index(each.outcome), each.policy))

    def shows(self, verdict: Verdict) -> bool:
        """Whether it gets lines of its own: of who asks for something else, the near ones do."""
        return self.every or bool(self.policy) or verdict.concerns or verdict.is_near


def print_events(explained: Sequence[Explained], wanted: Wanted) -> None:
    """Print each event and what became of it."""
    if wanted.as_json:
        _json({"events": [_document(each, wanted) for each in explained]})
        return
    for line in (line for each in explained for line in _lines(each, wanted)):
        say(line)


def print_judged(judges: "Judges", explained: Sequence[Explained], wanted: Wanted) -> None:
    """Print by whom each event was judged, and what became of it; a policy of a file has no revision."""
    wanted = replace(wanted, of_files=not judges.table)
    if wanted.as_json:
        _json({"judged_by": judges.document(), "events": [_document(each, wanted) for each in explained]})
        return
    say(str(judges))
    print_events(explained, wanted)


def print_incident(told: "Told", wanted: Wanted) -> None:
    """Print an incident, where its limits stand, and its events."""
    incident = told.incident
    if wanted.as_json:
        limits = [each.document() for each in told.limits]
        events = [_document(each, wanted) for each in told.events]
        trust = told.trust.document() if told.trust else None
        of_policy = {
            "limits": limits,
            "trust": trust,
            "in_hand": told.in_hand,
            "denied": told.denied,
            "halted": told.halted,
        }
        _json({"incident": _of_incident(incident), **of_policy, "events": events})
        return
    say(_line(incident))
    for limit in told.limits:
        say(f"  limit         {limit}")
    if told.trust:
        say(f"  trust         {told.trust}")
    if told.in_hand:
        say(f"  its node      {told.in_hand}; nothing is done to it meanwhile")
    if told.denied:
        say(f"  nobody acts   {told.denied}")
    if told.halted:
        say(f"  its policy    takes nothing away now: {told.halted}")
    say("  (what follows stands on the incident's notes and the node's state as they are now)")
    print_events(told.events, wanted)


def print_node(incidents: Sequence[Incident], wanted: Wanted) -> None:
    """Print the incidents of a node, newest first."""
    if wanted.as_json:
        _json({"incidents": [_of_incident(each) for each in incidents]})
        return
    for incident in incidents:
        say(_line(incident))
    say("Next: relight policy explain --incident ID")


def _lines(explained: Explained, wanted: Wanted) -> Iterator[str]:
    yield _headline(explained)
    verdicts = wanted.of(explained.verdicts)
    shown = [each for each in verdicts if wanted.shows(each)]
    for verdict in shown:
        yield f"  {verdict.outcome:<13} {verdict.policy} ({verdict.mode}, {_where(verdict, wanted)})"
        yield f"{_INDENT}{verdict.reason}"
        if verdict.facts:
            yield f"{_INDENT}{verdict.facts}"
        yield from (f"{_INDENT}→ {then}" for then in verdict.then)
    if len(shown) < len(verdicts):
        yield f"  {len(verdicts) - len(shown)} others ask for something else (--all)"


def _where(verdict: Verdict, wanted: Wanted) -> str:
    return "in a file" if wanted.of_files else f"revision {verdict.revision}"


def _headline(explained: Explained) -> str:
    event, at = explained.event, format_time(explained.moment)
    if event is None:
        return f"a heartbeat of {explained.node.name}, {at}"
    attributes = ", ".join(f"{name} {_value(name, value)}" for name, value in event.attributes.items())
    told = f"{event.kind}{f' ({attributes})' if attributes else ''}, {event.severity}, {scope_of(event.component)}"
    return f"{told}, on {explained.node.name}, {at}{', received before' if explained.known else ''}"


def _value(name: str, value: Scalar) -> str:
    """Return *value*; what should be a number and is text stands in quotes, which is why no policy took it for one."""
    return f'"{value}" (text, not a number)' if name in NUMERIC and isinstance(value, str) else str(value)


def _line(incident: Incident) -> str:
    why = incident.reason or ("" if incident.status.is_open else incident.outcome)
    about = f"{incident.policy.name}, {incident.node.name} ({incident.node.instance_id})"
    return f"incident {incident.id[:_SHORT]} {incident.status}: {about}{f': {why}' if why else ''}"


def _of_incident(incident: Incident) -> dict[str, Any]:
    return {
        "id": incident.id,
        "status": incident.status.value,
        "policy": incident.policy.name,
        "revision": incident.policy.revision,
        "node": incident.node.name,
        "instance": incident.node.instance_id,
        "reason": incident.reason,
        "outcome": incident.outcome,
        "opened_at": format_time(incident.opened_at),
    }


def _document(explained: Explained, wanted: Wanted) -> dict[str, Any]:
    unnumbered = {"revision": None} if wanted.of_files else {}
    verdicts = [{**each.document(), **unnumbered} for each in wanted.of(explained.verdicts)]
    return {**explained.document(), "policies": verdicts}


def _json(found: dict[str, Any]) -> None:
    print(json.dumps(found, ensure_ascii=False, indent=1))
