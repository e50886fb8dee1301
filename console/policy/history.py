"""`relight policy history` and `show --revision`: who changed what of a policy, when and why."""

import json
from typing import Any

from console.policy.complaining import complain
from console.policy.diffing import in_brief
from console.policy.past import NOT_THERE, Past, in_force_of, past_of, unreadable
from console.policy.seen_by_aws import Seen, named
from console.policy.yaml_writing import as_yaml
from console.rows import say_words
from console.saying import say
from functions.callers.matching import Whose
from functions.ports.policies import PolicyEditor

_FURTHER = " " * 12


def tell_history(policies: PolicyEditor, name: str, *, as_json: bool) -> int:
    """Print every revision of *name*, newest first; the answer is the exit status."""
    head = policies.head(name)
    revisions = policies.revisions(name)
    past, lost = past_of(head, revisions), unreadable(head, revisions)
    if not past:
        return complain(f"there is no revision of {name}; `relight policy list` names them.")
    seen = Seen(past, policies.calls_of(name))
    if as_json:
        now = head.revision if head else None
        told = {"name": name, "in_force": now, "revisions": [_document(each, seen.whose(each)) for each in past]}
        beside = {"unreadable": lost, "other_calls": seen.others_document()}
        print(json.dumps({**told, **beside}, ensure_ascii=False, indent=1))
        return 0
    for each in past:
        say_words(_line(each, seen.whose(each)), _FURTHER)
        for change in each.changes if each.in_force else ():
            for line in change.lines():
                say_words(f"{_FURTHER}{line}", f"{_FURTHER}  ")
    for number in lost:
        say(f"rev {number:<4} {NOT_THERE}")
    for line in seen.others_lines():
        say_words(line, _FURTHER)
    return 0


def show_revision(policies: PolicyEditor, name: str, number: int, *, as_json: bool) -> int:
    """Print one revision of *name* as a file."""
    head, kept = policies.head(name), policies.revisions(name)
    revisions = past_of(head, kept)
    found = [each for each in revisions if each.head.revision == number]
    if number in unreadable(head, kept):
        return complain(f"revision {number} of {name} {NOT_THERE}")
    if not found:
        return complain(f"there is no revision {number} of {name}: `relight policy history {name}`.")
    (past,) = found
    whose = Seen(revisions, policies.calls_of(name)).whose(past)
    if as_json:
        print(json.dumps({**_document(past, whose), "document": in_force_of(past.head)}, ensure_ascii=False, indent=1))
        return 0
    say(f"# {_line(past, whose)}")
    print(as_yaml(in_force_of(past.head)), end="")
    return 0


def _line(past: Past, whose: Whose) -> str:
    edit, head = past.head.edit, past.head
    when = (edit.accepted_at or edit.at)[:19].replace("T", " ") or "-"
    words = [
        "" if past.in_force else "never in force",
        "its item was deleted" if past.deleted else "",
        f"revision {edit.restored} again" if edit.restored else "",
        f"pushed from {edit.source}" if _source(past) else "",
        edit.reason,
    ]
    told = "; ".join(word for word in words if word)
    return f"rev {head.revision:<4} {when:<19}  {head.mode:<7} {named(edit.by, whose)}{f': {told}' if told else ''}"


def _source(past: Past) -> str:
    """Return the folder of a push; revisions of a version before name it of a roll-back, too, which was none."""
    return "" if past.head.edit.restored else past.head.edit.source


def _document(past: Past, whose: Whose) -> dict[str, Any]:
    edit, head = past.head.edit, past.head
    return {
        "revision": head.revision,
        "mode": head.mode.value,
        "in_force": past.in_force,
        "deleted": past.deleted,
        "accepted_at": edit.accepted_at or None,
        "by": edit.by,
        "callers": list(whose.names),
        "callers_sure": whose.sure,
        "callers_agree": whose.agrees,
        "edited_at": edit.at or None,
        "reason": edit.reason,
        "source": _source(past) or None,
        "restored": edit.restored or None,
        "hash": head.hash,
        "brief": in_brief(past.changes),
        "changes": [change.document() for change in past.changes],
    }
