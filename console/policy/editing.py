"""`relight policy push`, `list`, `show`, `stop` and `start` on the policies table."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.policy.files import NO_FILES, read
from console.policy.linting import is_good, tell
from console.policy.listing import as_document, of_document
from functions.adapters.policies import push
from policies.contract.times import format_time
from policies.coordination.switches import EVERYTHING, stop_of
from policies.lint.lint import lint
from policies.yaml_text import read_yaml

if TYPE_CHECKING:
    from functions.adapters.policies import DynamoPolicies

FAILED = 1
SWITCHED = {
    "stop": "Everything is stopped. New findings are only recorded. Incidents that have acted stop before their next"
    " rung\nand page, unless all that is left is to bring their run back. See them: relight incident list",
    "start": "Policies act again as they say. What was parked or recorded meanwhile stays so: relight incident list",
}


def push_files(
    files: Sequence[Path], policies: "DynamoPolicies", *, mode: str | None, edited_by: str, now: datetime
) -> int:
    """Write the policies in *files* as live items unless anything is wrong with one of them."""
    linted = lint(read(files))
    tell(linted)
    if not files or len(linted) != len(files) or not all(is_good(each) for each in linted):
        print(f"relight policy: {'nothing' if files else f'{NO_FILES} Nothing'} was written.", file=sys.stderr)
        return FAILED
    read_again = [read_yaml(each.written.text) for each in linted]
    documents = [dict(each) for each in read_again if isinstance(each, dict)]
    if mode:
        documents = [{**document, "mode": mode} for document in documents]
    changed = push(policies, documents, edited_by=edited_by, now=now)
    for document in documents:
        print(f"{'written  ' if document['name'] in changed else 'unchanged'}  {document['name']}")
    return 0


def switch(action: str, policies: "DynamoPolicies", *, reason: str, edited_by: str, now: datetime) -> int:
    """Stop everything, or start it again."""
    item = {
        "name": EVERYTHING,
        "mode": "off" if action == "stop" else "active",
        **({"reason": reason} if reason else {}),
    }
    policies.put_live({**item, "edited_by": edited_by, "edited_at": format_time(now)})
    print(SWITCHED[action])
    return 0


def list_table(policies: "DynamoPolicies", *, as_json: bool) -> int:
    """Print every policy of the table: mode, revision in force, verdict on the last edit."""
    stop = stop_of(policies.live(EVERYTHING))
    in_force = {heading.name: heading for heading in policies.headings()}
    names = sorted({*policies.names(), *in_force} - {EVERYTHING})
    shadows = {name: shadow.told for name, shadow in policies.self_shadows.all().items()}
    if as_json:
        as_document([{**_row(policies, name), "self_shadow": shadows.get(name)} for name in names], stopped=stop)
        return 0
    if stop:
        print(f"NOTHING ACTS: {stop}. `relight policy start` ends that.")
    for name in names:
        heading = in_force.get(name)
        told = f"{heading.mode:<7} rev {heading.revision:<4}" if heading else f"{'-':<7} {'none':<8}"
        shadow = f"; shadow: {shadows[name]}" if name in shadows else ""
        print(f"{name:<40} {told} {_status(_verdict(policies, name))}{shadow}")
    return 0


def _row(policies: "DynamoPolicies", name: str) -> dict[str, Any]:
    head, verdict = policies.head(name), _verdict(policies, name)
    known = {"name": name, "item": _status(verdict), "item_problems": len((verdict or {}).get("problems", ()))}
    if head is None:
        return {**known, "mode": None, "revision": None}
    return of_document(head.document, {**known, "mode": head.mode.value, "revision": head.revision})


def show(policies: "DynamoPolicies", name: str) -> int:
    """Print one policy as it is in force, and what is wrong with its last edit."""
    import yaml

    head, verdict = policies.head(name), _verdict(policies, name)
    if head is None and policies.live(name) is None:
        print(f"relight policy: there is no policy {name}; `relight policy list` names them.", file=sys.stderr)
        return FAILED
    if head is not None:
        print(f"# revision {head.revision}, {head.mode}")
        print(yaml.safe_dump(json.loads(head.document), sort_keys=False, allow_unicode=True, width=110), end="")
    print(f"# the item: {_status(verdict)}")
    shadow = policies.self_shadows.all().get(name)
    if shadow:
        print(
            f"# it put itself in shadow: {shadow.told} (incident {shadow.incident});"
            f" `relight policy set-mode {name} active` ends that"
        )
    for problem in (verdict or {}).get("problems", ()):
        print(f"#   {problem['path'] or 'document'}: {problem['reason']} {problem['hint']}")
    return 0


def _verdict(policies: "DynamoPolicies", name: str) -> Mapping[str, Any] | None:
    live = policies.live(name)
    if live is None:
        return {"status": "deleted"}
    return live.get("verdict") or policies.answer_beside(name)


def _status(verdict: Mapping[str, Any] | None) -> str:
    if verdict is None:
        return "not judged yet"
    problems = len(verdict.get("problems", ()))
    return f"{verdict['status']} ({problems} problems)" if problems else str(verdict["status"])
