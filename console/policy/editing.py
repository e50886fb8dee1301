"""`relight policy list`, `show`, `stop` and `start` on the policies table."""

import json
import sys
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from console.policy.answering import Answer
from console.policy.complaining import complain
from console.policy.counting import HEADING
from console.policy.edits import Editor, live_item
from console.policy.listing import as_document, of_document
from console.policy.past import brought_back, document_of, in_force_of
from console.policy.standing_still import nothing_acts, stopped
from console.policy.yaml_writing import as_yaml
from console.rows import say_words
from console.saying import say
from functions.ports.policies import BrokenItemError, Edit, Head
from policies.coordination.switches import EVERYTHING, SelfShadow

if TYPE_CHECKING:
    from console.policy.counting import Counted
    from functions.adapters.policies import DynamoPolicies

_FURTHER = " " * 8  # of a line that a narrow terminal folds
SWITCHED = {
    "stop": "Everything is stopped. New findings are only recorded. Incidents that have acted stop before their next"
    " rung\nand page, unless all that is left is to bring their run back. See them: relight incident list",
    "start": "Policies act again as they say. What was parked or recorded meanwhile stays so: relight incident list",
}


def switch(policies: "DynamoPolicies", answer: Answer, *, reason: str, edited_by: str, now: datetime) -> int:
    """Stop everything, or start it again, as *answer* says."""
    action = answer.action
    item = {
        "name": EVERYTHING,
        "mode": "off" if action == "stop" else "active",
        **({"reason": reason} if reason else {}),
    }
    policies.put_live(live_item(item, Editor(edited_by, now)))
    answer.of(EVERYTHING, written=True, mode=item["mode"])
    say(SWITCHED[action])
    return 0


def list_table(
    policies: "DynamoPolicies", *, as_json: bool, counter: "Callable[[Collection[str]], Counted] | None" = None
) -> int:
    """Print every policy of the table: mode, revision in force, verdict on the last edit, and how often it was right.

    *counter* knows the last.
    """
    stop = stopped(policies)
    in_force = {heading.name: heading for heading in policies.headings()}
    names = sorted({*policies.names(), *in_force} - {EVERYTHING})
    shadows = {name: shadow.told for name, shadow in policies.self_shadows.all().items()}
    if as_json:
        known = counter(names) if counter else None
        rows = [
            {**_row(policies, name), "self_shadow": shadows.get(name), **(known.of(name) if known else {})}
            for name in names
        ]
        as_document(rows, stopped=stop, **({"runs": known.all_misses()} if known else {}))
        return 0
    if stop:
        say(nothing_acts(stop))
    known = counter(names) if counter else None
    shown = known is not None and not known.without
    if shown and names:
        say_words(f"{'policy':<40} {'mode':<7} {'revision':<8} {HEADING}  last edit", _FURTHER)
    for name in names:
        heading = in_force.get(name)
        told = f"{heading.mode:<7} rev {heading.revision:<4}" if heading else f"{'-':<7} {'none':<8}"
        if heading and not heading.is_readable:  # until the guard has written it anew
            told = f"{'?':<7} {'?':<8}"
        shadow = f"; shadow: {shadows[name]}" if name in shadows else ""
        right = f"{known.columns(name)}  " if known and shown else ""
        say_words(f"{name:<40} {told} {right}{_status(_verdict(policies, name))}{shadow}", _FURTHER)
    for line in known.foot() if known else ():
        say(line, file=sys.stdout if shown else sys.stderr)
    return 0


def _row(policies: "DynamoPolicies", name: str) -> dict[str, Any]:
    head, broken = _head_or_why(policies, name)
    verdict = _verdict(policies, name)
    problems = len((verdict or {}).get("problems", ()))
    known = {"name": name, "item": _status(verdict), "item_problems": problems, "broken": broken}
    if head is None:
        return {**known, "mode": None, "revision": None}
    return of_document(document_of(head), {**known, "mode": head.mode.value, "revision": head.revision})


def _head_or_why(policies: "DynamoPolicies", name: str) -> tuple[Head | None, str]:
    """Return what is in force of *name*, or what somebody made of it by hand: one that is broken hides no other."""
    try:
        return policies.head(name), ""
    except BrokenItemError as broken:
        return None, broken.message


def show(policies: "DynamoPolicies", name: str, *, as_json: bool) -> int:
    """Print one policy as it is in force, and what is wrong with its last edit."""
    head, live = policies.head(name), policies.live(name)
    verdict = _verdict_on(policies, live)
    if head is None and live is None:
        return complain(f"there is no policy {name}; `relight policy list` names them.")
    shadow = policies.self_shadows.find(name)
    shadow = shadow if shadow and shadow.lifted_at is None else None
    if as_json:
        print(json.dumps(_shown(name, head, verdict, shadow), ensure_ascii=False, indent=1, default=int))
        return 0
    stop = stopped(policies)
    if stop:
        say(f"# {nothing_acts(stop)}")
    if head is not None:
        say(f"# revision {head.revision}, {head.mode}{_by(head.edit)}")
        print(as_yaml(in_force_of(head)), end="")
    say(f"# the item: {_status(verdict)}{f': {brought_back(name)}' if live is None else ''}")
    if shadow:
        say(
            f"# it put itself in shadow: {shadow.told} (incident {shadow.incident});"
            f" `relight policy set-mode {name} active` ends that"
        )
    for problem in (verdict or {}).get("problems", ()):
        say(f"#   {problem['path'] or 'document'}: {problem['reason']} {problem['hint']}")
    return 0


def _shown(
    name: str, head: Head | None, verdict: Mapping[str, Any] | None, shadow: SelfShadow | None
) -> dict[str, Any]:
    in_force = None
    if head is not None:
        edit = {"by": head.edit.by, "accepted_at": head.edit.accepted_at or None, "reason": head.edit.reason}
        in_force = {"revision": head.revision, "mode": head.mode.value, **edit, "document": in_force_of(head)}
    item = {"status": _status(verdict), "problems": (verdict or {}).get("problems", [])}
    return {"name": name, "in_force": in_force, "item": item, "self_shadow": shadow.told if shadow else None}


def _by(edit: Edit) -> str:
    if not edit.accepted_at:
        return ""
    return f", since {edit.accepted_at[:19].replace('T', ' ')}, by {edit.by}{f': {edit.reason}' if edit.reason else ''}"


def _verdict(policies: "DynamoPolicies", name: str) -> Mapping[str, Any] | None:
    return _verdict_on(policies, policies.live(name))


def _verdict_on(policies: "DynamoPolicies", live: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return {"status": "deleted"} if live is None else policies.verdict(live)


def _status(verdict: Mapping[str, Any] | None) -> str:
    if verdict is None:
        return "not judged yet"
    problems = len(verdict.get("problems", ()))
    return f"{verdict['status']} ({problems} problems)" if problems else str(verdict["status"])
