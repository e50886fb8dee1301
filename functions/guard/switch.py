"""The verdict on the switch that stops everything: `#everything` beside the policies.

It has no revisions and nothing to put in force: coordinate reads the item as it is written. So the verdict only says
what that item means, in case a word is misspelt. It must not read or write.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import stop_of
from policies.documents import fingerprint
from policies.problems import Problem

_WORDS = frozenset({PolicyMode.OFF, PolicyMode.ACTIVE})


def judge_switch(live: Mapping[str, Any]) -> dict[str, Any]:
    """Return the verdict without its time: accepted, or rejected with what a misspelt mode is taken for."""
    mode = live.get("mode")
    problems = []
    if mode not in _WORDS:
        problems.append(
            Problem.of("mode", f"{mode!r} is no mode of this switch.", "It is taken for off; write off, or active.")
        )
    return {
        "status": "rejected" if problems else "accepted",
        "revision": 0,
        "hash": fingerprint(live),
        "mode": str(PolicyMode.OFF if stop_of(live) else PolicyMode.ACTIVE),
        "problems": [asdict(one) for one in problems],
    }
