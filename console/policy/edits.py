"""How a command writes a `live` item: the operator's fields, who, when and why, and the seal over both.

The guard believes the seal only: an edit in AWS's own console leaves these names in place. It must not read or write.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from policies.contract.times import format_time
from policies.documents import BOOKKEEPING, fingerprint, sealed

SOURCE, PUSHED, AT = "from", "hash", "at"
SHIPPED_SOURCE = "shipped-with-relight"
"""What the folder that comes along calls itself: nobody's work is in what was pushed from it alone."""


@dataclass(frozen=True)
class Editor:
    """Who edits, when and why."""

    by: str
    at: datetime
    reason: str = ""


def live_item(
    fields: Mapping[str, Any], editor: Editor, *, restored: int = 0, pushed: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the item of *fields*; ``restored`` is the revision they are from, *pushed* as `pushed_from` returns it."""
    known = {"edit_reason": editor.reason, "restored": restored, "pushed": pushed}
    own = {key: value for key, value in fields.items() if key not in BOOKKEEPING}
    return sealed(
        {
            **own,
            "edited_by": editor.by,
            "edited_at": format_time(editor.at),
            **{key: value for key, value in known.items() if value},
        }
    )


def pushed_from(source: str, fields: Mapping[str, Any], at: datetime) -> dict[str, Any]:
    """Return what a push leaves on the item: the folder it came from, what it wrote, and the edit that it was.

    It stays while others edit; by *at*, its `Editor`'s, the guard tells which revision the push itself made.
    """
    return {SOURCE: source, PUSHED: fingerprint(fields), AT: format_time(at)}


def pushed_of(live: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the last push left on *live*, empty when none did."""
    pushed = live.get("pushed")
    return pushed if isinstance(pushed, Mapping) else {}


def changed_since_push(live: Mapping[str, Any]) -> bool:
    """Whether somebody edited *live* after the last push wrote it, or no push ever did."""
    return pushed_of(live).get(PUSHED) != fingerprint(live)
