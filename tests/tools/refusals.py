"""A policy that asks, a person who says no, and what is found afterwards, at so many seconds from the start."""

from policies.contract.decisions import Finding, PolicyPlan
from policies.contract.events import Component
from policies.contract.restraints import ApproveMessage
from policies.contract.vocabulary import ComponentType
from policies.coordination.incident import Incident
from policies.coordination.states import IncidentStatus
from policies.facts.capacity import Capacity
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, ask, at, finding, findings, plan

MINUTE, HOUR = 60.0, 3600.0
ASKS = plan(approval=True, settle=0)
NO_AT = 90.0
ENDS = NO_AT + 4 * HOUR
FULL = Capacity(at=at(0), spares=0, reserved=8, reserved_free=0, headroom=4)


def no(
    incident: Incident,
    seconds: float,
    *,
    hours: float | None = None,
    by: str = "kim",
    reason: str = "a firmware test",
    seen: int | None = None,
) -> ApproveMessage:
    return ApproveMessage(
        cluster=CLUSTER,
        incident=incident.id,
        by=by,
        reason=reason,
        approved=False,
        at=at(seconds),
        for_seconds=None if hours is None else hours * HOUR,
        seen=seen,
    )


def seen(seconds: float, policy: PolicyPlan = ASKS, **more: object) -> Finding:
    """Return what was seen at that second, under a name of its own."""
    change = {"component": more.pop("component")} if "component" in more else {}
    which = (policy.name, policy.revision, more.get("kind"), more.get("epoch"), more.get("job", 0), change, seconds)
    name = "-".join(map(str, which))
    made = finding(name=name, policy=policy, seen=at(seconds), **more)  # type: ignore[arg-type]
    return made.model_copy(update=change)


def gpu(index: int) -> Component:
    return Component(type=ComponentType.GPU, index=index)


def denied(first: Finding | None = None, hours: float | None = None) -> DecisionTable:
    table = DecisionTable()
    table.take(0, findings(first or seen(0)))
    assert table.answer(1, ask(table.incident.id)).verdict == "parked"
    table.take(NO_AT, no(table.incident, NO_AT, hours=hours))
    assert (table.incident.status, table.incident.outcome) == (IncidentStatus.CLOSED, "denied")
    return table


def denied_of_one() -> DecisionTable:
    """Return a table on which GPU 0 was denied by who had looked before GPU 1 joined the incident."""
    table = DecisionTable()
    table.take(0, findings(seen(0, component=gpu(0))))
    table.answer(1, ask(table.incident.id))
    looked = table.incident.version
    table.take(30, findings(seen(30, component=gpu(1))))
    table.take(60, no(table.incident, 60, seen=looked))
    return table


def pages(table: DecisionTable) -> int:
    return sum(entry.alert == "page" for each in table.incidents for entry in each.timeline)


def opened(table: DecisionTable) -> list[Incident]:
    return [each for each in table.incidents if each.status.is_open]
