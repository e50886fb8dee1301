"""Which budgets an incident's policy puts on it, and taking them all before its first act.

All at once and first: a budget refused half-way would leave a run stopped for a node that nobody may replace. It must
not know what a reservation looks like.
"""

from collections.abc import Mapping
from datetime import datetime

from policies.contract.decisions import Limit
from policies.coordination import budgets
from policies.coordination.incident import Incident
from policies.coordination.states import IncidentStatus
from policies.coordination.working import Working


def limits_of(incident: Incident) -> Mapping[str, Limit]:
    """Return scope -> limit of every limit that applies to *incident*."""
    scopes = (
        (budgets.scope_of(name, limit, policy=incident.policy.name, node=incident.node, job=incident.job), limit)
        for name, limit in sorted(incident.policy.limits.items())
    )
    return {scope: limit for scope, limit in scopes if scope is not None}


def scopes_in_percent(incident: Incident) -> tuple[str, ...]:
    """Return the scopes as large as the cluster whose size must be known before *incident* settles.

    Nobody knows how many nodes a rack or a job has: a percentage of those stays at its floor.
    """
    if incident.status is not IncidentStatus.SETTLING:
        return ()
    limits = limits_of(incident).items()
    return tuple(scope for scope, limit in limits if limit.percent is not None and limit.per in {"cluster", "policy"})


def reserve_all(work: Working, incident: Incident, now: datetime) -> str:
    """Reserve every budget of *incident*, or none; return why not, empty when it has them."""
    taken: dict[str, budgets.Budget] = {}
    for scope, limit in limits_of(incident).items():
        size = work.snapshot.sizes.get(scope, 0)
        before = work.budget(scope)
        reserved = budgets.reserve(before, incident.id, limit, size=size, now=now)
        if reserved is None:
            return _refusal(before, limit, size, now)
        taken[scope] = reserved
    work.budgets.update(taken)
    return ""


def _refusal(budget: budgets.Budget, limit: Limit, size: int, now: datetime) -> str:
    holders = [each.incident[:8] for each in budgets.counting(budget, now)]
    return (
        f"budget {budget.scope} is used up: {len(holders)} of {budgets.allowance(limit, size)} within "
        f"{limit.within_seconds:g} s ({', '.join(holders[:5])})"
    )
