"""`relight policy set-mode`: one policy's mode by the way of every edit, and the end of the shadow it put itself in.

The mode is written on the operator's item and judged by the guard; only then the self-shadow is lifted, so that a
policy that is being turned off never acts in between. Again is the same. Power is taken even where the item is refused
for something else (`functions/guard/lowering.py`): then the mode is had, and the rest of the item waits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from console.policy.answering import Answer
from console.policy.edits import Editor, live_item, pushed_of
from console.policy.linting import tell_warnings
from console.policy.past import brought_back
from console.policy.standing_still import nothing_acts, stopped
from console.policy.waiting import WAIT_SECONDS, wait_for_verdict
from console.saying import say
from functions.ports.policies import Head
from policies.contract.vocabulary import PolicyMode

if TYPE_CHECKING:
    from functions.adapters.policies import DynamoPolicies

_SHOWN = 3
_TRY = (
    "It acts from now on. What it would have done so far: `relight policy report`, and of any time `relight policy"
    " backtest --help`. Back: `relight policy set-mode {name} shadow`."
)


@dataclass(frozen=True)
class Wish:
    """Which mode which policy is to have, who says so and why."""

    name: str
    mode: str
    by: str
    reason: str = ""
    wait_seconds: float = WAIT_SECONDS


def set_mode(
    policies: "DynamoPolicies",
    wish: Wish,
    answer: Answer,
    *,
    clock: Callable[[], datetime],
    pause: Callable[[float], None],
) -> int:
    """Do it; the result is the exit status. RelightError when the table cannot be written."""
    live = policies.live(wish.name)
    if live is None:
        return _without_item(policies.head(wish.name), wish, answer)
    answer.of(wish.name, mode=wish.mode)
    arms = wish.mode == PolicyMode.ACTIVE != live.get("mode")
    if arms:
        found = tell_warnings({**live, "mode": wish.mode})
        answer.of(wish.name, warnings=[flaw.document() for flaw in found])
    if live.get("mode") != wish.mode:
        editor = Editor(wish.by, clock(), wish.reason)
        item = live_item({**live, "mode": wish.mode}, editor, pushed=pushed_of(live))
        policies.replace_live(live, item)
        answer.of(wish.name, written=True)
    verdict = wait_for_verdict(policies, wish.name, wish.wait_seconds, clock=clock, pause=pause)
    answer.judged(wish.name, verdict)
    if verdict is None:
        return answer.failed(f"{wish.name} is written and not judged yet: `log Guard`. Say it again when it is.")
    if verdict["status"] != "accepted" and verdict.get("mode") != wish.mode:
        told = f"{wish.name} was refused as it stands, and its mode with it: `relight policy show {wish.name}`."
        return answer.failed(f"{told} {_why(verdict)}")
    shadow = policies.self_shadows.lift(wish.name, wish.by, clock(), wish.reason)
    say(f"{wish.name}: {wish.mode}, revision {verdict['revision']}.")
    stop = stopped(policies) if wish.mode == PolicyMode.ACTIVE else ""
    if stop:
        say(answer.leave(nothing_acts(stop)))
    elif arms:
        say(_TRY.format(name=wish.name))
    if verdict["status"] != "accepted":
        say(answer.leave(f"The rest of its item stays refused; what was accepted last goes on. {_why(verdict)}"))
        back = f"relight policy rollback {wish.name} --to {verdict['revision']}"
        say(f"Mend it (`relight policy show {wish.name}`), or take it back: `{back}`.")
    if shadow:
        answer.of(wish.name, ended_shadow=shadow.told)
        say(f"It had put itself in shadow: {shadow.told}. That is over; what it did before counts no more.")
    return 0


def _without_item(head: Head | None, wish: Wish, answer: Answer) -> int:
    """Answer for a policy that nobody knows, or whose item was deleted: then it is off, and there is none to edit."""
    if head is None:
        return answer.failed(f"there is no policy {wish.name}; `relight policy list` names them.")
    answer.of(wish.name, mode=wish.mode)
    if wish.mode == PolicyMode.OFF and head.mode is PolicyMode.OFF:
        say(f"{wish.name}: off, revision {head.revision}: its item was deleted. {brought_back(wish.name)}")
        return 0
    if head.mode is not PolicyMode.OFF:
        return answer.failed(f"the item of {wish.name} was deleted, and that is not judged yet: `log Guard`.")
    return answer.failed(f"the item of {wish.name} was deleted, which turned it off. {brought_back(wish.name)}")


def _why(verdict: Mapping[str, Any]) -> str:
    """Return why the guard refused the item, the first few reasons of it."""
    problems = verdict.get("problems", ())
    told = "; ".join(f"{one['path'] or 'document'}: {one['reason']}" for one in problems[:_SHOWN])
    return f"{told} (and {len(problems) - _SHOWN} more)" if len(problems) > _SHOWN else told
