"""How often a policy has acted lately, and on what: when one act more would be too many, or one more turn of a loop.

Decides that from the acts of a day, which are kept as a budget is, by incident. A policy that acts so often, or whose
act is followed by the same fault again and again, is more likely wrong than right. It must not know how a policy is
switched.
"""

from collections.abc import Sequence
from datetime import datetime

from policies.contract.times import add_seconds
from policies.coordination.budgets import Budget, Reservation
from policies.coordination.incident import Incident
from policies.coordination.sparing import is_of_a_node
from policies.coordination.switches import SelfShadow
from policies.coordination.working import Working

DAY_SECONDS = 86_400.0
MOST_KEPT = 256  # acts of one policy in one item: more than the largest pace that can be written
MOST_IN_A_ROW = 3  # acts of one policy within a day, each of which the same fault came after on the same place


def acts_scope(policy: str) -> str:
    """Return where the acts of *policy* are kept."""
    return f"acts#policy#{policy}"


def why_too_many(work: Working, incident: Incident, now: datetime) -> str:
    """Return why *incident* would be one act too many of its policy, empty when it may act."""
    if is_noted(work, incident):
        return ""
    acts = _acts_before(work, incident, now)
    pace = incident.policy.acts
    if pace is not None:
        lately = [act for act in acts if act.at > add_seconds(now, -pace.within_seconds)]
        if len(lately) >= pace.at_most:
            return f"acted {_times(len(lately))} within {_span(pace.within_seconds)}"
    # A long run hangs several times a day for reasons that have nothing in common: only acts on nodes make a loop.
    loops = pace is not None and is_of_a_node(incident.generation)
    chain = chain_to(acts, incident.node.instance_id) if loops else ()
    if len(chain) < MOST_IN_A_ROW:
        return ""
    told = " → ".join(f"{act.node} (incident {act.incident[:8]})" for act in reversed(chain))
    return f"acts in a loop: {told} → {incident.node.instance_id}, and the same fault came after each act"


def put_in_shadow(work: Working, incident: Incident, why: str, now: datetime) -> None:
    """Have the policy of *incident* put itself in shadow."""
    policy, before = incident.policy.name, work.switches.shadows.get(incident.policy.name)
    shadow = SelfShadow(
        policy=policy,
        cluster=incident.cluster,
        incident=incident.id,
        since=now,
        why=why,
        version=before.version + 1 if before else 1,
    )
    work.switches = work.switches.with_shadow(shadow)


def is_noted(work: Working, incident: Incident) -> bool:
    """Whether *incident* is among the acts of its policy, perhaps by a run that died before it could say so there."""
    acts = work.budget(acts_scope(incident.policy.name)).reservations
    return any(act.incident == incident.id for act in acts)


def note_act(work: Working, incident: Incident, now: datetime) -> None:
    """Keep that *incident* acts from now on; again is the same."""
    budget = work.budget(acts_scope(incident.policy.name))
    if incident.policy.acts is None or is_noted(work, incident):
        return
    mine = Reservation(
        incident=incident.id, at=now, counts_until=add_seconds(now, DAY_SECONDS), node=incident.node.instance_id
    )
    _keep(work, budget, (*budget.reservations, mine), now)


def forget_act(work: Working, incident: Incident) -> None:
    """Drop what a run that died half-way noted of *incident*, which touches nothing after all."""
    budget = work.budget(acts_scope(incident.policy.name))
    left = tuple(act for act in budget.reservations if act.incident != incident.id)
    if len(left) < len(budget.reservations):
        work.budgets[budget.scope] = budget.model_copy(update={"reservations": left})


def note_successor(work: Working, incident: Incident, instance: object, now: datetime) -> None:
    """Keep which *instance* took the place of the node that *incident* is about."""
    budget = work.budget(acts_scope(incident.policy.name))
    if not isinstance(instance, str) or not is_noted(work, incident):
        return
    acts = tuple(
        act.model_copy(update={"successor": instance}) if act.incident == incident.id else act
        for act in budget.reservations
    )
    _keep(work, budget, acts, now)


def chain_to(acts: Sequence[Reservation], node: str) -> tuple[Reservation, ...]:
    """Return the acts that led to *node*, the last one first: on it, or on whom it is the successor of, and so on."""
    chain: list[Reservation] = []
    for act in sorted(acts, key=lambda each: (each.at, each.incident), reverse=True):
        if node and node in {act.node, act.successor}:
            chain.append(act)
            node = act.node
    return tuple(chain)


def _acts_before(work: Working, incident: Incident, now: datetime) -> tuple[Reservation, ...]:
    """Return the acts of other incidents within a day, without those from before a person lifted its shadow."""
    lifted = work.switches.lifted_at(incident.policy.name)
    begin = add_seconds(now, -DAY_SECONDS)
    acts = work.budget(acts_scope(incident.policy.name)).reservations
    return tuple(
        act for act in acts if act.incident != incident.id and act.at > begin and (lifted is None or act.at > lifted)
    )


def _keep(work: Working, budget: Budget, acts: Sequence[Reservation], now: datetime) -> None:
    kept = sorted((act for act in acts if now < act.counts_until), key=lambda act: (act.at, act.incident))[-MOST_KEPT:]
    work.budgets[budget.scope] = budget.model_copy(update={"reservations": tuple(kept)})


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _span(seconds: float) -> str:
    for unit, length in (("h", 3600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds / length:g}{unit}"
    return f"{seconds:g}s"
