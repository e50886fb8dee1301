"""What a push would do to the table: what is new, what changes, and where it would overwrite somebody's edit.

Decides from what the folder last saw, what the last push left on the item, and what the item is now. It must not read
or write.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from console.policy.diffing import MISSING, Change, changes
from console.policy.edits import PUSHED, SOURCE, changed_since_push, pushed_of
from console.policy.past import brought_back
from functions.guard.lowering import asked_mode
from functions.ports.policies import DELETED, UNKNOWN, Head
from policies.contract.vocabulary import PolicyMode
from policies.documents import NotPlainError, fingerprint, operators_fields


class Doing(StrEnum):
    """What becomes of one policy."""

    NEW = "new"
    SAME = "unchanged"
    CHANGED = "changed"
    OFF = "turned off"  # as it stands: it is not in the folder any more, or holds what the folder does not know of
    CONFLICT = "conflict"


@dataclass(frozen=True)
class Planned:
    """One policy: ``document`` as it is to be, ``live`` as the item stands, ``head`` in force.

    ``changes`` is from the item to the document, ``why`` says what a conflict is. ``keeps`` says that somebody's
    edit in the table stays in the document, of which the folder does not know. ``stands`` is the mode that the table
    has, None of one that is new.
    """

    name: str
    doing: Doing
    document: Mapping[str, Any]
    live: Mapping[str, Any] | None
    head: Head | None
    changes: tuple[Change, ...] = ()
    why: str = ""
    keeps: bool = False
    stands: PolicyMode | None = None

    @property
    def writes(self) -> bool:
        """Whether the table changes by it."""
        return self.doing is not Doing.SAME


@dataclass(frozen=True)
class Rules:
    """What may be overwritten: ``force`` whatever it is; ``expected`` what is in force as this revision.

    What a ``trusted`` source pushed last may be, too: nobody's work is in it alone. Where each keeps the mode that the
    table has (``keeps_modes``), whoever changed nothing but that mode loses nothing.
    """

    force: bool = False
    expected: int | None = None
    trusted: frozenset[str] = frozenset()
    keeps_modes: bool = False


def plan(
    name: str,
    document: Mapping[str, Any],
    live: Mapping[str, Any] | None,
    head: Head | None,
    *,
    seen: str | None,
    rules: Rules,
    stands: PolicyMode | None = None,
) -> Planned:
    """Return what a push of *document* does; *seen* is the fingerprint that the folder knows of."""
    if live is not None and fingerprint(live) == fingerprint(document):
        why = "" if rules.force else _unexpected(head, rules)
        return Planned(name, Doing.CONFLICT if why else Doing.SAME, document, live, head, why=why, stands=stands)
    found = tuple(changes(fields_of(live), operators_fields(document))) if live is not None else ()
    same_mode = live is not None and asked_mode(live) == document.get("mode")
    rules = replace(rules, keeps_modes=rules.keeps_modes and same_mode)
    why = "" if rules.force else _conflict(name, live, head, seen, rules)
    doing = Doing.CONFLICT if why else Doing.CHANGED if live is not None else Doing.NEW
    return Planned(name, doing, document, live, head, found, why, stands=stands)


def plan_off(name: str, live: Mapping[str, Any], head: Head | None, *, source: str, rules: Rules) -> Planned | None:
    """Return how a policy that *source* pushed and has no more is turned off; None when it is another's, or off.

    Of an item that no command can write as it stands, what is in force is turned off, once it may be written over.
    """
    if pushed_of(live).get(SOURCE) != source or live.get("mode") == PolicyMode.OFF:
        return None
    if not _is_plain(live) and head is None:  # nothing of it is in force, or ever will be as it stands
        return None
    fields = fields_of(live) if head is None or _is_plain(live) else json.loads(head.document)
    document = {**fields, "mode": PolicyMode.OFF.value}
    found = (Change("mode", live.get("mode", MISSING), PolicyMode.OFF.value),)
    if changed_since_push(live) and not rules.force:
        why = f"it is not in the folder any more, and was edited in the table since it was pushed{_who(live, head)}."
        return Planned(name, Doing.CONFLICT, document, live, head, found, why)
    return Planned(name, Doing.OFF, document, live, head, found, stands=asked_mode(live))


def switched_off(planned: Planned) -> Planned:
    """Return how a push of `off` goes on where it would write over an edit: it turns off what stands there, as it is.

    Nobody's work is lost by that, and off must not wait: the guard grants it on an item that is refused for something
    else, too (`functions/guard/lowering.py`). Only what no command can write as it stands stays a conflict.
    """
    live = planned.live
    if planned.doing is not Doing.CONFLICT or live is None or not _is_plain(live):
        return planned
    document = {**fields_of(live), "mode": PolicyMode.OFF.value}
    found = tuple(changes(fields_of(live), document))
    doing = Doing.OFF if found else Doing.SAME
    return replace(planned, doing=doing, document=document, changes=found, why="", keeps=True)


def _is_plain(live: Mapping[str, Any]) -> bool:
    try:
        operators_fields(live)
    except (NotPlainError, RecursionError):
        return False
    return True


def fields_of(live: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the operator's fields of an item; of one that holds what no policy can, as they are told best."""
    try:
        return operators_fields(live)
    except (NotPlainError, RecursionError):
        return {"item": "holds what no policy can"}


def _unexpected(head: Head | None, rules: Rules) -> str:
    """Return that another revision is in force than was expected though it says the same; the push said again made it.

    Who expects a revision that never was looks at another table, or at another policy, than they believe.
    """
    there, after = (head.revision, head.edit.after) if head else (0, None)
    if rules.expected is None or rules.expected in {there, after}:
        return ""
    return f"revision {there} is in force, not {rules.expected}; it says what the file says."


def _conflict(name: str, live: Mapping[str, Any] | None, head: Head | None, seen: str | None, rules: Rules) -> str:
    """Return why the push must not go on, empty when it may."""
    if rules.expected is not None:
        there = head.revision if head else 0
        as_expected = there == rules.expected and (live is None or (head and fingerprint(live) == head.hash))
        return "" if as_expected else f"revision {there} is in force{_who(live, head)}, not {rules.expected}."
    if live is None:
        deleted = head is not None and head.hash.startswith(DELETED)
        return f"its item was deleted in the table. Remove its file here, or {brought_back(name)}" if deleted else ""
    marks = {fingerprint(live), *(fingerprint({**live, "mode": mode}) for mode in PolicyMode if rules.keeps_modes)}
    if seen in marks:
        return ""
    if pushed_of(live).get(SOURCE) in rules.trusted and pushed_of(live).get(PUSHED) in marks:
        return ""
    known = "since this folder last saw it" if seen else "and this folder never saw it"
    return f"it was edited in the table{_who(live, head)} {known}."


def _who(live: Mapping[str, Any] | None, head: Head | None) -> str:
    """Return who made what stands there, as far as it is known."""
    if head is None or live is None or head.hash != fingerprint(live):
        return ""
    # Only what a command of ours wrote has its seal.
    nobody = "somebody who gave no name" if head.edit.mark else "somebody unknown (AWS's console, or a program)"
    by = nobody if head.edit.by == UNKNOWN else head.edit.by
    reason = f": {head.edit.reason}" if head.edit.reason else ""
    at = f" at {head.edit.accepted_at[:16]}" if head.edit.accepted_at else ""
    return f" by {by}{at}{reason} (revision {head.revision})"
