"""Where a policy's count stands on one component of a node, as its state tells it.

Decides nothing of its own: the count is asked by `Counter` how far it would be fulfilled if less were wanted, and
`Dwell` since when a condition holds. It must not change the state.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from policies.alike import with_value
from policies.contract.decisions import WideRule
from policies.contract.times import format_time
from policies.coordination.windows import Window, measure_of
from policies.measures import Measure
from policies.moments import from_ms
from policies.node_state import NodeState
from policies.rulebook import Rule
from policies.windows import Counter


@dataclass(frozen=True)
class Standing:
    """``amount`` of ``needed`` ``of`` something within so many seconds, from ``since`` on; ``told``: which windows.

    ``held``: the policy asks how long a condition holds (`for`), so that amount, needed and within are seconds.
    """

    scope: str
    of: str
    amount: float
    needed: float
    within: float
    since: datetime | None = None
    until: datetime | None = None
    told: tuple[datetime, ...] = ()
    held: bool = False

    @property
    def is_reached(self) -> bool:
        """Whether it is enough."""
        return self.amount >= self.needed

    def __str__(self) -> str:
        """Return it for people."""
        if self.held:
            since = f" since {_short(self.since)}" if self.since else ""
            return f"it holds{since} on {self.scope}: {self.amount:g} s of {self.needed:g} s"
        span = f", from {_short(self.since)} on" if self.since else ""
        return f"{self.amount:g} of {self.needed:g} {self.of} on {self.scope} within {self.within:g} s{span}"

    def document(self) -> dict[str, Any]:
        """Return it for machines."""
        return {
            "scope": self.scope,
            "of": self.of,
            "amount": self.amount,
            "needed": self.needed,
            "within_seconds": self.within,
            "since": format_time(self.since) if self.since else None,
            "until": format_time(self.until) if self.until else None,
            "told": [format_time(one) for one in self.told],
        }


def standing_of(state: NodeState, rule: Rule, scope: str, now: datetime, value: str = "") -> Standing:
    """Return where *rule* stands on *scope*: of everything that *state* keeps, the newest window that holds most.

    *value*: of what agrees in it, where the rule asks for that.
    """
    if rule.dwell:
        return _lasting(state, rule, scope, now)
    counter = state.counter(f"{rule.name}|{with_value(scope, value)}", rule.revision)
    return _counted(counter, rule.measure, rule.revision, _alike(scope, value))


def wide_standing(window: Window | None, rule: WideRule, scope: str, value: str = "") -> Standing:
    """Return where a count over many nodes stands, by coordinate's *window* (None: nothing was counted)."""
    revision = rule.plan.revision
    dumped = window and (window.alike[value].counter if value in window.alike else None if value else window.counter)
    counter = Counter.load(dumped) if dumped else Counter(revision)
    return _counted(counter, measure_of(rule), revision, _alike(scope, value))


def _alike(scope: str, value: str) -> str:
    return f"{scope} for the value {value}" if value else scope


def _counted(counter: Counter, measure: Measure, current: int, scope: str) -> Standing:
    revision, points, told, *lasting = counter.dump()
    fullest, amount = None, 0
    low, high = 1, measure.at_least
    while low <= high:
        wanted = (low + high) // 2
        tried = Counter.load([current, points, [], *lasting])
        windows = tried.fulfilled(replace(measure, at_least=wanted), current)
        if windows:
            fullest, amount, low = windows[-1], wanted, wanted + 1
        else:
            high = wanted - 1
    return Standing(
        scope=scope,
        of="different values" if measure.distinct else "occurrences" if measure.occurrence else "events",
        amount=amount,
        needed=measure.at_least,
        within=measure.within / 1000,
        since=from_ms(fullest.start) if fullest else None,
        until=from_ms(fullest.end) if fullest else None,
        told=tuple(from_ms(one) for one in told) if revision == current else (),
    )


def _lasting(state: NodeState, rule: Rule, scope: str, now: datetime) -> Standing:
    key = f"{rule.name}|{scope}"
    dwell = state.dwell(key) if key in state.dwells else None
    since = dwell.holds_since() if dwell else None
    moment = from_ms(since) if since is not None else None
    amount = max((now - moment).total_seconds(), 0.0) if moment else 0.0
    told = (moment,) if dwell and moment and since is not None and dwell.told >= since else ()
    return Standing(scope, "seconds", amount, rule.dwell / 1000, rule.dwell / 1000, moment, None, told, held=True)


def _short(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}Z" if moment else ""
