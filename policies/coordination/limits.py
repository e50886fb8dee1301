"""Which budgets an incident's policy puts on it, and taking them all before its first act.

All at once and first: a budget refused half-way would leave a run stopped for a node that nobody may replace. It must
not know what a reservation looks like.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from policies.contract.catalog.instances import gpus_of
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


class ToMeasure(NamedTuple):
    """A scope whose number of nodes must be known: the whole cluster, else its ``rack``, else the nodes of ``job``.

    ``ranks`` is how many ranks of that job a node has.
    """

    scope: str
    rack: str = ""
    job: str = ""
    ranks: int = 0


def to_measure(incident: Incident) -> tuple[ToMeasure, ...]:
    """Return the scopes whose size must be known before *incident* settles.

    One that nobody can tell the size of is not among them, and stays at its floor: a rack where the node's place is
    unknown, a job on an instance type whose GPUs nobody counted. A rank is taken to have one GPU, as launchers do.
    """
    if incident.status is not IncidentStatus.SETTLING:
        return ()
    limits = limits_of(incident).items()
    measured = (_to_measure(incident, scope, limit) for scope, limit in limits if limit.percent is not None)
    return tuple(one for one in measured if one is not None)


def _to_measure(incident: Incident, scope: str, limit: Limit) -> ToMeasure | None:
    if limit.per == "rack":
        path = incident.node.network_path
        return ToMeasure(scope, rack=path[-1]) if path else None
    if limit.per == "job":
        ranks = gpus_of(incident.node.instance_type)
        return ToMeasure(scope, job=incident.job.id, ranks=ranks) if incident.job and ranks else None
    return ToMeasure(scope)


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
