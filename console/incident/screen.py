"""What the subcommands print: tables for people, JSON for machines. It must not read or send anything."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.text import Text

from console.ago import ago
from console.incident import document
from console.incident.advising import next_steps
from console.incident.standing import held, left
from console.incident.waiting import why_it_stands
from console.rows import print_rows
from console.saying import say
from console.terminal import terminal
from policies.coordination.incident import Incident
from policies.coordination.judgements import Judgement
from policies.coordination.notes import FindingNote
from policies.precision.acts import act_of

_SHORT = 12  # of an id of 32: enough to name one
_STATUSES = {"settling": "cyan", "acting": "cyan", "resuming": "cyan", "parked": "red", "closed": "green"}


@dataclass(frozen=True)
class Screen:
    """Prints answers to standard output, progress to standard error."""

    as_json: bool
    now: datetime

    def list(self, incidents: Sequence[Incident], *, closed: bool, unheard: Sequence[str] = ()) -> None:
        """Print one line an incident; of nodes and runs that are *unheard* of there has never been one."""
        if self.as_json:
            self._json({"incidents": [document.line_of(each) for each in incidents]})
            return
        if not incidents:
            say("There is none." if closed else "No incident is open.")
            for name in unheard:
                say(f"No incident has ever been about {name!r}, as far as it was looked back (--days). Is it written")
                say("right? A node is its instance id (i-…) or its name, a run its namespace/name.")
            return
        rows = []
        for each in incidents:
            status = Text(_words(each.outcome or each.status), style=_STATUSES[each.status])
            at = each.current.rung if each.status.is_open and each.current else ""
            run, node = (each.job.id if each.job else ""), f"{each.node.name} ({each.node.instance_id})"
            changed = ago(self.now, each.updated_at)
            why = why_it_stands(each)
            rows.append((each.id[:_SHORT], status, node, run, each.policy.name, at, changed, why))
        out = terminal()
        print_rows(out, ("incident", "status", "node", "run", "policy", "at", "changed", "why"), rows, text="why")
        out.print(Text("Next: relight incident show ID"))

    def show(self, incident: Incident) -> None:
        """Print one incident, whole."""
        if self.as_json:
            self._json(document.whole(incident))
            return
        out = terminal(soft_wrap=True)
        status = Text(f"{incident.status} {ago(self.now, incident.updated_at)}", style=_STATUSES[incident.status])
        out.print(Text(f"incident {incident.id}", style="bold"), status)
        for name, value in _head(incident):
            out.print(Text(f"{name:<10}", style="dim"), Text(value))
        out.print(Text("\nseconds since the first sign", style="dim"))
        for seconds, entry in document.timeline(incident):
            style = "red" if entry.alert == "page" else ""
            out.print(Text(f"{seconds:>9.1f}  {entry.stage:<18} {entry.detail}".rstrip(), style=style))
        for name, value in document.facts(incident).items():
            out.print(Text(f"{name:<18}", style="dim"), Text(_fact(value)))
        for each in document.refused(incident):
            out.print(Text(f"refused step {each.get('step')}: {each.get('reason')}"))
        out.print(Text("\nnext", style="bold"))
        for step in next_steps(incident):
            out.print(Text(f"- {step}"))

    def before_close(self, incident: Incident) -> None:
        """Say on standard error what closing lets go and what it does not."""
        if self.as_json:
            return
        say(f"{incident.id[:_SHORT]} {incident.node.name}: {incident.reason or incident.status}", file=sys.stderr)
        for title, lines in (("Closing lets go", held(incident)), ("It does not undo", left(incident))):
            if lines:
                say("\n  ".join([f"{title}:", *lines]), file=sys.stderr)
        if incident.status.is_running:
            say("It is still at work: what it does in this moment ends half-way.", file=sys.stderr)

    def before_answer(self, incident: Incident) -> None:
        """Say on standard error what an approval lets it do."""
        if self.as_json:
            return
        say(f"{incident.id[:_SHORT]} {incident.node.name}: {incident.reason}", file=sys.stderr)
        say(f"Seen: {'; '.join(incident.messages) or incident.findings[-1].kind}", file=sys.stderr)
        say(f"It would: {' → '.join(each.rung for each in incident.rungs)}", file=sys.stderr)
        say(f"An answer is about: {'; '.join(document.asked_about(incident))}", file=sys.stderr)

    def answered(self, incident: Incident) -> None:
        """Say what came of a person's answer."""
        if self.as_json:
            said = {"approved_by": incident.approved_by or None, "denied_until": document.denied_until(incident)}
            self._json({**document.line_of(incident), **said})
        elif incident.approved_by:
            say(f"{incident.id} goes on with attempt {incident.attempt}: approved by {incident.approved_by}.")
        elif incident.status.is_open:
            say(f"{incident.id} stays parked: {incident.timeline[-1].detail or incident.reason}", file=sys.stderr)
        else:
            say(f"{incident.id} is closed: {_words(incident.outcome)}, {incident.reason}")

    def closed(self, incident: Incident, before: Incident) -> None:
        """Say that it is closed."""
        if self.as_json:
            self._json(document.closed_document(incident, before))
            return
        say(f"{incident.id} is closed: {incident.reason or incident.outcome}")

    def judged(self, incident: Incident) -> None:
        """Say what is said of it by now, and what comes of that."""
        if self.as_json:
            said = [each.model_dump(mode="json", exclude_defaults=True) for each in incident.judgements]
            self._json({**document.line_of(incident), "judgements": said, "counts": act_of(incident) is not None})
            return
        for each in incident.judgements:
            say(f"{incident.id[:_SHORT]} {_judgement(each)}")
        if act_of(incident) is None and any(not each.policy for each in incident.judgements):
            say("It touched no hardware, so that it counts for no precision. It is kept with the incident.")
        told = next((entry for entry in incident.timeline if entry.stage == "distrusted"), None)
        if told:
            say(told.detail)

    @staticmethod
    def _json(found: dict[str, Any]) -> None:
        print(json.dumps(found, ensure_ascii=False, indent=1))


def _head(incident: Incident) -> list[tuple[str, str]]:
    node, job, policy = incident.node, incident.job, incident.policy
    driver = f"driver {node.driver_version}" if node.driver_version else ""
    place = ", ".join(filter(None, (node.instance_id, node.instance_type, driver, node.availability_zone)))
    rank = f", rank {job.rank}" if job and job.rank is not None else ""
    told = [
        ("node", f"{node.name} ({place}), cluster {incident.cluster}"),
        ("run", f"{job.id}{rank}" if job else "none was known on the node"),
        ("policy", f"{policy.name}, revision {policy.revision}: {', '.join(policy.do)}"),
        ("why", policy.why),
        *(("seen", message) for message in incident.messages),
        *(("again", _again(note)) for note in incident.findings if note.until),
        ("reason", why_it_stands(incident)),
        ("outcome", _words(incident.outcome)),
        *(("judged", _judgement(each)) for each in incident.judgements),
        ("execution", "" if document.is_recorded(incident) else f"{incident.execution} (attempt {incident.attempt})"),
        ("done", ", ".join(incident.done)),
        ("to come", ", ".join(document.to_come(incident))),
    ]
    return [(name, value) for name, value in told if value]


def _again(note: FindingNote) -> str:
    """Return how often what nobody acts on was found; a fault that waits for an approval is only known to last."""
    often = f"{note.times} times from {note.observed_at:%Y-%m-%d %H:%M:%S} " if note.times > 1 else "seen "
    what = " ".join(filter(None, (note.policy, note.kind, note.component)))
    return f"{what}: {often}until {note.last_observed_at:%Y-%m-%d %H:%M:%S} UTC"


def _judgement(each: Judgement) -> str:
    word = f"{each.verdict} by {each.policy}" if each.policy else each.verdict
    return f"{word}, says {each.by}{f': {each.why}' if each.why else ''}"


def _words(told: str) -> str:
    return told.replace("_", " ")


def _fact(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
