"""Who edited a `live` item, when and why: only what the seal of one of our commands vouches for is believed.

A person who edits in AWS's own console leaves `edited_by` of the edit before in place, and may paste a whole item of
last week: then the seal fits no more, or was used already, and it is `unknown` who it was. It must not read or write.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from functions.guard.writes import Write
from functions.ports.policies import Edit
from policies.contract.times import format_time
from policies.documents import edit_mark, fingerprint

MOST_USED = 50  # seals that a head remembers; an item that is pasted again is hardly ever older than fifty edits
_LONGEST = 300
_MOST_REVISIONS = 99_999_999  # as many as their sort keys have digits for


def edit_of(live: Mapping[str, Any], used: Sequence[str]) -> Edit:
    """Return what is known of the edit that made *live*; *used* are the seals that were believed before."""
    mark = live.get("edit_mark")
    if not isinstance(mark, str) or mark in used or mark != edit_mark(live):
        return Edit(used=tuple(used))
    return Edit(
        by=_text(live.get("edited_by")) or Edit.by,
        at=_text(live.get("edited_at")),
        reason=_text(live.get("edit_reason")),
        source=_source(live),
        restored=_number(live.get("restored")),
        mark=mark,
        used=(*used, mark)[-MOST_USED:],
    )


def dated(edit: Edit, writes: Sequence[Write]) -> Edit:
    """Return *edit* with the time of the *writes* that it is made of, oldest first; as it is without any."""
    if not writes:
        return edit
    return replace(edit, written_from=format_time(writes[0].at), written_until=format_time(writes[-1].at))


def _source(live: Mapping[str, Any]) -> str:
    """Return the folder that *live* was pushed from; what a push left there is of an earlier edit once others edit."""
    pushed = live.get("pushed")
    if not isinstance(pushed, Mapping):
        return ""
    at = pushed.get("at")  # a version before did not write it
    same = pushed.get("hash") == fingerprint(live) and not live.get("restored")
    of_this = at == live.get("edited_at") if at else same
    return _text(pushed.get("from")) if of_this else ""


def _text(value: object) -> str:
    """Return *value* as it may be shown: a seal vouches for what is written, and not that a terminal survives it."""
    return "".join(char if char.isprintable() else " " for char in value[:_LONGEST]) if isinstance(value, str) else ""


def _number(value: object) -> int:
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, ArithmeticError):
        return 0
    return number if 0 <= number <= _MOST_REVISIONS else 0
