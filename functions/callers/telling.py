"""What people hear of calls that wrote policies: once for each, as soon as CloudTrail tells. It must not read or write.

A command of ours says itself who edits. Of what came another way nobody was named when it was judged, refused or
deleted; so it is named here.
"""

from collections.abc import Sequence

from functions.ports.calls import ANY, Call
from functions.ports.notices import Notice
from policies.contract.identifiers import stable_id
from policies.contract.times import format_time
from policies.coordination.switches import EVERYTHING
from policies.problems import short_name
from policies.wording import first_few

_SHOWN = 3
_WAYS = {"console": " in AWS's console", "other": "", "command": " with `relight`"}
_DONE = {"DeleteItem": "deleted"}


def told_of(calls: Sequence[Call]) -> Notice | None:
    """Return the notice about the items that one event wrote; None for what a command of ours did to `live` items."""
    worth = [call for call in calls if call.way != "command" or call.item != "live"]
    if not worth:
        return None
    first = worth[0]
    names = list(dict.fromkeys(_called(call) for call in worth))
    when = format_time(first.at)[:19].replace("T", " ")
    did = f"{_DONE.get(first.action, 'wrote')} {first_few(names, _SHOWN)}"
    text = f"{first.by} {did}{_WAYS[first.way]} at {when} UTC ({first.action})."
    return Notice(
        id=stable_id("edited", first.id),
        kind="edited",
        policy=short_name(first.policy),
        at=first.at,
        by=first.by,
        text=text,
        detail={"call": first.id, "items": len(worth)},
    )


def _called(call: Call) -> str:
    if call.policy == ANY:
        return "some item of the policies table"
    if call.policy == EVERYTHING:
        return "the switch of everything"
    if call.item == "live":
        return short_name(call.policy)
    return f"{short_name(call.item)} of {short_name(call.policy)}, not a person's"
