"""Whose call a revision was, as `relight policy history` tells it: what CloudTrail saw, where it is noted.

It must not decide whose (`functions/callers/matching.py` does) or read.
"""

from collections.abc import Sequence
from typing import Any

from console.policy.past import Past
from functions.callers.matching import Whose, unmatched, whose
from functions.ports.calls import Call
from functions.ports.policies import UNKNOWN
from policies.contract.times import format_time


class Seen:
    """The *calls* that wrote a policy, held against all its revisions (*past*)."""

    def __init__(self, past: Sequence[Past], calls: Sequence[Call]) -> None:
        """Take both."""
        self._calls = calls
        followed = {each.head.revision: each.before for each in past}
        self._others = unmatched([each.head for each in past], followed, calls)

    def whose(self, past: Past) -> Whose:
        """Return whose call *past* was."""
        return whose(past.head, past.before, self._calls)

    def others_lines(self) -> list[str]:
        """Return a line for each call that no revision came of, newest first: refused or without effect."""
        return [f"no rev   {_when(call)}  {_did(call)}" for call in reversed(self._others)]

    def others_document(self) -> list[dict[str, Any]]:
        """Return the same for programs."""
        return [
            {"id": call.id, "at": format_time(call.at), "by": call.by, "action": call.action, "item": call.item}
            for call in reversed(self._others)
        ]


def named(claimed: str, seen: Whose) -> str:
    """Return who edited: the name that the edit gave itself, unless AWS saw somebody else."""
    if seen.agrees or not seen.names:
        return claimed
    return f"{seen} (CloudTrail)" if claimed == UNKNOWN else f"{claimed} (CloudTrail: {seen})"


def _when(call: Call) -> str:
    return format_time(call.at)[:19].replace("T", " ")


def _did(call: Call) -> str:
    item = "" if call.item == "live" else f" of {call.item}"
    return f"{call.action}{item} by {call.by}"
