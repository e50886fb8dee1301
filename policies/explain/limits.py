"""How far the budgets of an incident are used up: which limit holds it, and who has the shares."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from policies.coordination import budgets
from policies.coordination.incident import Incident
from policies.coordination.limits import limits_of


@dataclass(frozen=True)
class LimitStanding:
    """``taken`` of ``allowed`` shares of one budget; ``mine``: the incident has one. ``of_percent``: of the fleet."""

    scope: str
    taken: int
    allowed: int
    within_seconds: float
    holders: tuple[str, ...]
    mine: bool
    of_percent: bool

    @property
    def holds(self) -> bool:
        """Whether it holds the incident back."""
        return not self.mine and self.taken >= self.allowed

    def __str__(self) -> str:
        """Return it for people."""
        least = "at least " if self.of_percent else ""
        mine = ", one of them its own" if self.mine else ""
        told = f"{self.scope}: {self.taken} of {least}{self.allowed} within {self.within_seconds:g} s{mine}"
        return f"{told}: it holds this one back" if self.holds and not self.of_percent else told

    def document(self) -> dict[str, Any]:
        """Return it for machines."""
        return asdict(self)


def limit_standings(incident: Incident, found: Mapping[str, budgets.Budget], now: datetime) -> list[LimitStanding]:
    """Return where each limit of *incident*'s policy stands; *found* are the budgets by scope that are there."""
    standings = []
    for scope, limit in limits_of(incident).items():
        budget = found.get(scope) or budgets.Budget(cluster=incident.cluster, scope=scope)
        holders = tuple(each.incident for each in budgets.counting(budget, now))
        allowed = budgets.allowance(limit, 0)  # how large the fleet is only coordinate asks: a percentage is its floor
        mine = incident.id in holders
        percent = limit.percent is not None
        standings.append(LimitStanding(scope, len(holders), allowed, limit.within_seconds, holders, mine, percent))
    return standings
