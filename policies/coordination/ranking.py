"""Which of several policies leads, when they see the same node while its incident settles.

The one order: the higher ``priority``; then the act that takes more away; then the name. Those of the highest priority
decide, and what any of them wants is done; the others are noted. So the order in which findings arrive changes nothing.
It must not know incidents.
"""

from collections.abc import Iterable, Mapping, Sequence

from policies.contract.decisions import PolicyPlan
from policies.contract.vocabulary import Action

MOST_PLANS = 16  # the first ones in the order are kept: more policies than these see one fault hardly ever

BY_SEVERITY = (
    Action.REPLACE_NODE,
    Action.REBOOT_NODE,
    Action.RELOAD_DRIVER,
    Action.RESET_GPU,
    Action.RESTART_SERVICE,
    Action.RESTART_PROCESS,
    Action.SUSPEND_JOB,
    Action.RESUME_JOB,
    Action.REQUEUE_JOB,
    Action.RECLAIM,
    Action.DEPRIORITISE,
    Action.DRAIN,
    Action.ISOLATE,
    Action.COLLECT_EVIDENCE,
    Action.PAGE_OPERATOR,
    Action.ALERT,
    Action.RECORD,
)
"""Every action, the one that takes most away first."""
_PLACE: Mapping[Action, int] = {action: place for place, action in enumerate(BY_SEVERITY)}


def ranked(plans: Iterable[PolicyPlan]) -> tuple[PolicyPlan, ...]:
    """Return the newest revision of each of *plans*, the leading one first, at most `MOST_PLANS`."""
    newest: dict[str, PolicyPlan] = {}
    for plan in plans:
        known = newest.get(plan.name)
        if known is None or plan.revision > known.revision:
            newest[plan.name] = plan
    return tuple(sorted(newest.values(), key=_rank)[:MOST_PLANS])


def deciding(plans: Sequence[PolicyPlan]) -> tuple[PolicyPlan, ...]:
    """Return those of the *ranked* plans that say what is done: all of the highest priority."""
    return tuple(plan for plan in plans if plan.priority == plans[0].priority)


def merged(plans: Sequence[PolicyPlan]) -> PolicyPlan:
    """Return the first of the *ranked* plans with what the others that decide want as well.

    Of two limits of one name the leading policy's counts. Approval is asked for if any of them asks.
    """
    together = deciding(plans)
    if len(together) == 1:
        return together[0]
    limits = {name: limit for plan in reversed(together) for name, limit in plan.limits.items()}
    wanted = {action for plan in together for action in plan.do}
    return together[0].model_copy(
        update={
            "do": tuple(sorted(wanted, key=_PLACE.__getitem__)),
            "limits": dict(sorted(limits.items())),
            "approval": any(plan.approval for plan in together),
        }
    )


def _rank(plan: PolicyPlan) -> tuple[int, int, str]:
    return -plan.priority, min(_PLACE[action] for action in plan.do), plan.name
