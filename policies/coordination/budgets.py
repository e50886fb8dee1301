"""How many incidents may act at once, or within a time, on one scope: reservations by incident id.

A reservation counts while its incident is open and, once it acted, until the limit's window has passed. A percentage
never means less than one. It must not know what the acts are.
"""

from datetime import datetime

from policies.contract.base import Model
from policies.contract.decisions import Limit
from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef
from policies.contract.times import Moment, add_seconds
from policies.coordination.runs import run_of

FLOOR = 1


class Reservation(Model):
    """One incident's share of a budget, from the reservation on."""

    incident: str
    at: Moment
    closed: bool = False
    counts_until: Moment  # once closed
    node: str = ""  # the instance that was acted on, of acts that are counted by policy
    successor: str = ""  # the instance that took its place


class Budget(Model):
    """The reservations of one scope."""

    cluster: str
    scope: str
    reservations: tuple[Reservation, ...] = ()
    version: int = 1


def scope_of(name: str, limit: Limit, *, policy: str, node: NodeIdentity, job: JobRef | None) -> str | None:
    """Return the scope that *limit* counts in, None when it does not apply (a limit per job, and no job)."""
    if limit.per == "job":
        return f"{name}#job#{run_of(job)}" if job else None
    if limit.per == "rack":
        return f"{name}#rack#{node.network_path[-1] if node.network_path else 'unknown'}"
    if limit.per == "policy":
        return f"{name}#policy#{policy}"
    return f"{name}#cluster"


def allowance(limit: Limit, size: int) -> int:
    """Return how many reservations *limit* allows in a scope of *size* nodes (0 when unknown)."""
    caps = []
    if limit.at_most is not None:
        caps.append(max(FLOOR, limit.at_most))
    if limit.percent is not None:
        caps.append(max(FLOOR, int(size * limit.percent / 100)))
    return min(caps, default=FLOOR)


def counting(budget: Budget, now: datetime) -> tuple[Reservation, ...]:
    """Return the reservations that count at *now*."""
    return tuple(each for each in budget.reservations if not each.closed or now < each.counts_until)


def reserve(budget: Budget, incident: str, limit: Limit, *, size: int, now: datetime) -> Budget | None:
    """Return the budget with *incident*'s reservation in it, None when it is used up. Again is the same."""
    if any(each.incident == incident for each in budget.reservations):
        return budget
    taken = counting(budget, now)
    if len(taken) >= allowance(limit, size):
        return None
    mine = Reservation(incident=incident, at=now, counts_until=add_seconds(now, limit.within_seconds))
    return budget.model_copy(update={"reservations": (*taken, mine)})


def close(budget: Budget, incident: str, *, acted: bool) -> Budget:
    """Return the budget after *incident* closed: what did not act never counted."""
    if not any(each.incident == incident for each in budget.reservations):
        return budget
    left = (
        each.model_copy(update={"closed": True}) if each.incident == incident else each
        for each in budget.reservations
        if acted or each.incident != incident
    )
    return budget.model_copy(update={"reservations": tuple(left)})
