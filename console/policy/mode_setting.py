"""`relight policy set-mode`: one policy's mode by the way of every edit, and the end of the shadow it put itself in.

The mode is written on the operator's item and judged by the guard; only then the self-shadow is lifted, so that a
policy that is being turned off never acts in between. Again is the same.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from policies.contract.times import format_time
from policies.documents import fingerprint

if TYPE_CHECKING:
    from functions.adapters.policies import DynamoPolicies

FAILED = 1
LOOK_SECONDS = 0.5
WAIT_SECONDS = 60.0  # the guard judges within seconds; a stream that is read anew takes longer


@dataclass(frozen=True)
class Wish:
    """Which mode which policy is to have, who says so and why."""

    name: str
    mode: str
    by: str
    reason: str = ""
    wait_seconds: float = WAIT_SECONDS


def set_mode(
    policies: "DynamoPolicies", wish: Wish, *, clock: Callable[[], datetime], pause: Callable[[float], None]
) -> int:
    """Do it; the answer is the exit status. RelightError when the table cannot be written."""
    live = policies.live(wish.name)
    if live is None:
        return _complain(f"there is no policy {wish.name}; `relight policy list` names them.")
    if live.get("mode") != wish.mode:
        told = {"edit_reason": wish.reason} if wish.reason else {}
        edited = {"mode": wish.mode, "edited_by": wish.by, "edited_at": format_time(clock()), **told}
        policies.edit(wish.name, live, edited)
    verdict = _wait(policies, wish, clock, pause)
    if verdict is None:
        return _complain(f"{wish.name} is written and not judged yet: `log Guard`. Say it again when it is.")
    if verdict["status"] != "accepted":
        return _complain(f"{wish.name} was refused as it stands: `relight policy show {wish.name}`.")
    shadow = policies.self_shadows.lift(wish.name, wish.by, clock(), wish.reason)
    print(f"{wish.name}: {wish.mode}, revision {verdict['revision']}.")
    if shadow:
        print(f"It had put itself in shadow: {shadow.told}. That is over; what it did before counts no more.")
    return 0


def _wait(
    policies: "DynamoPolicies", wish: Wish, clock: Callable[[], datetime], pause: Callable[[float], None]
) -> Mapping[str, Any] | None:
    """Return the guard's verdict on the item as it stands, None when there was none in time."""
    until = clock() + timedelta(seconds=wish.wait_seconds)
    while True:
        live = policies.live(wish.name) or {}
        verdict = live.get("verdict") or policies.answer_beside(wish.name)
        if isinstance(verdict, Mapping) and verdict.get("hash") == fingerprint(live):
            return verdict
        if clock() >= until:
            return None
        pause(LOOK_SECONDS)


def _complain(text: str) -> int:
    print(f"relight policy: {text}", file=sys.stderr)
    return FAILED
