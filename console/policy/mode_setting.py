"""`relight policy set-mode`: one policy's mode by the way of every edit, and the end of the shadow it put itself in.

The mode is written on the operator's item and judged by the guard; only then the self-shadow is lifted, so that a
policy that is being turned off never acts in between. Again is the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from console.policy.complaining import complain
from console.policy.edits import Editor, live_item, pushed_of
from console.policy.waiting import WAIT_SECONDS, wait_for_verdict

if TYPE_CHECKING:
    from functions.adapters.policies import DynamoPolicies


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
        return complain(f"there is no policy {wish.name}; `relight policy list` names them.")
    if live.get("mode") != wish.mode:
        editor = Editor(wish.by, clock(), wish.reason)
        item = live_item({**live, "mode": wish.mode}, editor, pushed=pushed_of(live))
        policies.replace_live(live, item)
    verdict = wait_for_verdict(policies, wish.name, wish.wait_seconds, clock=clock, pause=pause)
    if verdict is None:
        return complain(f"{wish.name} is written and not judged yet: `log Guard`. Say it again when it is.")
    if verdict["status"] != "accepted":
        return complain(f"{wish.name} was refused as it stands: `relight policy show {wish.name}`.")
    shadow = policies.self_shadows.lift(wish.name, wish.by, clock(), wish.reason)
    print(f"{wish.name}: {wish.mode}, revision {verdict['revision']}.")
    if shadow:
        print(f"It had put itself in shadow: {shadow.told}. That is over; what it did before counts no more.")
    return 0
