"""What a refused edit takes from its policy all the same: its power. Pure.

Whoever writes `off` at three in the morning means it, though an edit of the day before left the item broken: what was
accepted last goes on, but off. So for `shadow`. To give power back an item must be sound.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from functions.ports.policies import DELETED, Edit, Head
from policies.contract.vocabulary import PolicyMode
from policies.documents import canonical, fingerprint

_POWER = {PolicyMode.OFF: 0, PolicyMode.SHADOW: 1, PolicyMode.ACTIVE: 2}


def asked_mode(live: Mapping[str, Any]) -> PolicyMode | None:
    """Return the mode that *live* asks for, however it is written; None where that is no word."""
    mode = live.get("mode")
    if mode is False:  # YAML reads a bare off so, and DynamoDB's console offers a boolean
        return PolicyMode.OFF
    try:
        return PolicyMode(mode.strip().lower()) if isinstance(mode, str) else None
    except ValueError:
        return None


def lowered(live: Mapping[str, Any], head: Head, edit: Edit) -> Head | None:
    """Return what *head* becomes, by *edit*, since the refused *live* asks for less power; None when it does not."""
    mode = asked_mode(live)
    if mode is None or _POWER[mode] >= _POWER[head.mode] or head.hash.startswith(DELETED):
        return None
    document = {**json.loads(head.document), "mode": mode.value}
    return replace(head, hash=fingerprint(document), mode=mode, document=canonical(document), edit=edit)


def as_asked(live: Mapping[str, Any], head: Head | None) -> str:
    """Return the mode that a refused edit asked for and got, "" when it got none."""
    mode = asked_mode(live)
    return mode.value if head and mode is head.mode and mode is not PolicyMode.ACTIVE else ""
