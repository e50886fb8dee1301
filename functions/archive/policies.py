"""What a change of the policies table is in the archive: a revision, one that came into force, a switch, a shadow.

Decides which items are kept. What an operator wrote on a policy's item is in the revision that the guard made of it;
the switch of everything has none, so it is kept itself, without the guard's answer. It must not know S3.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from functions.adapters.self_shadows import PREFIX, SORT
from functions.archive.plain import plain
from policies.contract.archive import Happening
from policies.coordination.switches import EVERYTHING

_REVISION = re.compile(r"rev#\d+")
_HEAD, _LIVE = "head", "live"
_IN_FORCE = ("name", "revision", "hash", "mode")
_KEYS = frozenset({"name", "sk"})
_ANSWERED = frozenset({"name", "sk", "verdict"})


def happening_of(
    name: str, sort: str, images: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None], number: str, at: datetime
) -> Happening | None:
    """Return what the *images* (old, new) of the item *name*, *sort* say; None for what is not kept.

    *number* and *at* are the stream's: items of policies hold no time of their own.
    """
    before, after = (plain(image) if image else {} for image in images)
    if name == EVERYTHING and sort == _LIVE:
        said = _without(after, _ANSWERED)
        return None if before and after and said == _without(before, _ANSWERED) else _switch(said, number, at)
    if not after:
        return None
    if name.startswith(PREFIX) and sort == SORT:
        return Happening(at, "shadow", f"{name}:{_number(after, 'version')}", _without(after, _KEYS))
    version = f"{name}:{_number(after, 'revision')}"
    if _REVISION.fullmatch(sort):
        return Happening(at, "policy", version, _without(after, {"sk"}))
    if sort == _HEAD and "revision" in after:  # the listing of all heads has none
        return Happening(at, "in_force", version, {each: after.get(each) for each in _IN_FORCE})
    return None


def _switch(said: dict[str, Any], number: str, at: datetime) -> Happening:
    return Happening(at, "switch", f"{EVERYTHING}:{number}", said)


def _without(item: Mapping[str, Any], names: frozenset[str] | set[str]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


def _number(item: Mapping[str, Any], name: str) -> str:
    value = item.get(name)
    return f"{value:08d}" if isinstance(value, int) else str(value)
