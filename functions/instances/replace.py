"""Replace a node: let its Auto Scaling group give the instance up once, then find and claim its successor.

The group keeps its desired capacity, so it launches one by itself. Which of the new instances is ours? Any that was
launched since the incident opened and that no other incident has claimed; the claim is one conditional write, so two
incidents never count on the same one. Whether the old one is gone is told by the world, not by our records: a crash
after the call, or a lost answer, gives up no second instance.
"""

from datetime import datetime

from functions.acts.act import ActContext
from functions.acts.support import Pace, moment_of
from functions.instances.groups import group_of, why_not_ours
from functions.ports.instances import Claims, Instance, Instances, Membership
from policies.contract.decisions import RungReport
from policies.contract.times import format_time


class ReplaceNode:
    """The act."""

    def __init__(self, *, instances: Instances, claims: Claims, pace: Pace) -> None:
        """Take the ports."""
        self._instances = instances
        self._claims = claims
        self._pace = pace

    def advance(self, context: ActContext) -> RungReport:
        """Give the instance up unless it is given up; done once a successor runs. Outcome: new_instance, group."""
        node = context.node.instance_id
        old = self._instances.describe([node]).get(node)
        membership = self._instances.membership(node)
        group = group_of(context, old, membership)
        foreign = why_not_ours(context, group)
        if old and old.state in {"pending", "running"} and membership is None and "group" not in context.progress:
            foreign = f"{node} runs in no Auto Scaling group; replace it by hand"
        if foreign:
            return context.failed(foreign)
        since = moment_of(context.progress, "since") or _launched_since(context, old, membership)
        facts = {"group": group, "since": format_time(since)}
        if membership and not membership.leaving:
            if len(context.cluster.auto_scaling_groups) != 1 and "group" not in context.progress:
                # Once it has left, nothing may tell its group any more: keep the name first, act at the next look.
                return context.waiting(0, f"{node} is in group {group}", **facts)
            stopped = self._why_stopped(group)
            if stopped:
                return context.failed(f"{node} was not given up: {stopped}")
            self._instances.replace(node)
        return self._find_successor(context, group, since, facts)

    def _why_stopped(self, group: str) -> str:
        """Return why nothing would follow what is given up now, empty when something would."""
        found = self._instances.group(group)
        return f"group {group} launches no successor, {found.stopped}" if found and found.stopped else ""

    def _find_successor(self, context: ActContext, group: str, since: datetime, facts: dict[str, str]) -> RungReport:
        new = self._claim(context, group, since)
        if new and new.state == "running":
            return context.done(new_instance=new.id, **facts)
        if new:
            return self._pace.wait(context, f"the successor {new.id} is {new.state}", **facts)
        failures = self._instances.failed_launches(group, since)
        reason = f"group {group} cannot launch a successor: {failures[0]}" if failures else ""
        return self._pace.wait(context, reason or self._why_none_yet(context, group), **facts)

    def _why_none_yet(self, context: ActContext, group: str) -> str:
        found = self._instances.group(group)
        others = [each for each in found.members if each != context.node.instance_id] if found else []
        why = self._why_stopped(group) or f"group {group} has launched no successor yet"
        if found and not found.stopped and len(others) >= found.wanted:
            return f"{why}: it has the {found.wanted} instances it wants; raise its desired capacity"
        return why

    def _claim(self, context: ActContext, group: str, since: datetime) -> Instance | None:
        found = self._instances.group(group)
        members = [each for each in found.members if each != context.node.instance_id] if found else []
        known = self._instances.describe(members).values()
        fresh = [each for each in known if each.launched_at >= since and each.state in {"pending", "running"}]
        for candidate in sorted(fresh, key=lambda each: (each.launched_at, each.id)):
            if self._claims.claim(candidate.id, context.incident, context.now) == context.incident:
                return candidate
        return None


def _launched_since(context: ActContext, old: Instance | None, membership: Membership | None) -> datetime:
    """Return the moment from which on a launch may be the successor's; EC2 tells launches in whole seconds.

    That is when the incident opened, or, where the instance ended before and on its own, when it ended.
    """
    opened = context.opened_at.replace(microsecond=0)
    if membership is None and old is not None and old.changed_at is not None:
        return min(opened, old.changed_at.replace(microsecond=0))
    return opened
