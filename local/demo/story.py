"""The story of one fault on a cluster: follow its incident, then gather the facts.

It must not know how the story is shown, or how a fault is done.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from local.aws.iam import check, roles_of
from local.demo import acts, arrivals
from local.demo.acts import Acts
from local.demo.cluster import STACK, LocalCluster
from local.demo.expected import Expected
from local.demo.report import STAGES, Report, StageReached, Truth
from local.fleet.fleet import Fault
from local.fleet.infrastructure import NODE_ROLE
from local.fleet.nodes import GPUS_PER_NODE
from policies.coordination.incident import Incident

_POLL_SECONDS = 0.2
_ALERTS = 2  # one when it opens, one when it closes
_ALERT_SECONDS = 10.0


def follow(
    cluster: LocalCluster,
    fault: Fault,
    expected: Expected,
    on_stage: Callable[[StageReached], None],
    seconds: float,
) -> Incident | None:
    """Tell each stage of the fault's incident as it is reached, until it is closed or parked.

    Returns the incident as it was last seen: after *seconds* it may be open, or None when none was ever opened.
    """
    deadline = time.monotonic() + seconds
    told = 0
    while True:
        incident = incident_of(cluster, fault, expected)
        for stage in stages_of(incident, fault)[told:] if incident else ():
            on_stage(stage)
            told += 1
        is_over = incident is not None and not incident.status.is_running
        if is_over or time.monotonic() > deadline:
            return incident
        time.sleep(_POLL_SECONDS)


def incident_of(cluster: LocalCluster, fault: Fault, expected: Expected) -> Incident | None:
    """The first incident about the fault's instance; of a run alone, the one that any of its nodes opened."""
    found = cluster.incidents()
    if not expected.replaces_node:
        found = [one for one in found if one.policy.name == expected.policy]
    else:
        found = [one for one in found if one.node.instance_id == fault.instance_id]
    return found[0] if found else None


def stages_of(incident: Incident, fault: Fault) -> list[StageReached]:
    """The incident's timeline, as lines with seconds since the fault."""
    return [
        StageReached(entry.stage, entry.at, (entry.at - fault.at).total_seconds(), _told(entry.stage, incident, fault))
        for entry in incident.timeline
    ]


def _told(stage: str, incident: Incident, fault: Fault) -> str:
    """What a person wants to know about this stage, from the facts; else what the timeline says."""
    facts = incident.facts
    job = incident.job
    texts: dict[str, str] = {
        "seen": fault.what
        or f"Xid {fault.xid}, GPU {fault.gpu} of {fault.node}" + (f", job {job.id} rank {job.rank}" if job else ""),
        "settled": "nothing has spoken against it: acts begin",
        "isolated": f"{fault.node} is cordoned and tainted" + (f" ({facts['dead_by']})" if "dead_by" in facts else ""),
        "evidence_kept": str(facts.get("evidence", "")),
        "job_suspended": f"all pods of {job.id} are gone" if job else "",
        "node_verified": f"{facts.get('verified_node')} takes pods",
        "instance_replaced": f"{fault.instance_id} → {facts.get('new_instance')}",
        "checkpoint_chosen": _told_checkpoint(facts),
        "resumed": f"from step {facts.get('resumed_step')}",
        "confirmed": f"at step {facts.get('confirmed_step')}",
    }
    if stage in texts:
        return texts[stage]
    return next((entry.detail for entry in incident.timeline if entry.stage == stage), "")


def _told_checkpoint(facts: dict[str, Any]) -> str:
    refused = "".join(f"; step {one.get('step')} refused: {one.get('reason')}" for one in facts.get("refused", ()))
    return f"step {facts.get('chosen_step')}{refused}"


def report_on(
    cluster: LocalCluster, fault: Fault, expected: Expected, incident: Incident | None
) -> tuple[Report, Truth]:
    """Gather what happened, and what the simulator itself knows about it."""
    alerts = _wait_for_alerts(cluster)
    counted = arrivals.count(cluster.aws, cluster.outputs["FaultsStream"], cluster.room)
    done = acts.observe(cluster.aws.recorded_calls(), cluster.kubernetes.audit.entries())
    allowed = Acts(endings=int(expected.replaces_node), suspensions=1, resumptions=1)
    facts = incident.facts if incident else {}
    truth = _truth(cluster, fault, incident)
    report = Report(
        stages=tuple(stage for stage in stages_of(incident, fault) if stage.name in STAGES) if incident else (),
        policy=incident.policy.name if incident else "",
        incident_id=incident.id if incident else "",
        old_instance=fault.instance_id,
        new_instance=facts.get("new_instance"),
        chosen_step=facts.get("chosen_step"),
        refused=_refusals(facts.get("refused", ())),
        resumed_step=facts.get("resumed_step"),
        confirmed_step=facts.get("confirmed_step"),
        alerts=len(alerts),
        events_sent=counted.sent,
        events_lost=counted.lost,
        acts_repeated=done.beyond(allowed),
        gpu_hours_lost=_gpu_hours_lost(cluster, truth),
    )
    return report, truth


def _refusals(refused: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    return tuple({"step": one.get("step"), "reason": one.get("reason")} for one in refused)


def _wait_for_alerts(cluster: LocalCluster) -> list[str]:
    deadline = time.monotonic() + _ALERT_SECONDS
    while len(alerts := cluster.pager.read()) < _ALERTS and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return alerts


def _truth(cluster: LocalCluster, fault: Fault, incident: Incident | None) -> Truth:
    record = cluster.training.record
    complete = [step for step, at in record.first_saved.items() if at < fault.at]
    begun = {step for step, at in record.save_begun.items() if at < fault.at}
    return Truth(
        instances_started=len(cluster.room) - cluster.site.size,
        old_instance_is_gone=cluster.room.get(fault.instance_id).is_gone,
        newest_complete_step=max(complete, default=0),
        torn_steps=frozenset(begun - set(complete)),
        starts=tuple(step for step, _ in record.starts),
        step_now=cluster.training.step,
        denied=_denied(cluster),
        others=tuple(_others(cluster, incident)),
    )


def _others(cluster: LocalCluster, incident: Incident | None) -> Iterator[str]:
    """Yield what other incidents did or are about to do; one fault is one incident, whatever else only tells of it."""
    for one in cluster.incidents():
        if incident is not None and one.id != incident.id and (one.acted or one.status.is_open):
            yield f"another incident acted, or waits: {one.policy.name} on {one.node.name} ({one.status})"


def _denied(cluster: LocalCluster) -> tuple[str, ...]:
    """The calls of Relight's functions and of the nodes that their roles in the template do not allow."""
    judged = check(cluster.aws.recorded_calls(), roles_of(cluster.aws, STACK, NODE_ROLE))
    return tuple(str(call) for call in judged.denied)


def _gpu_hours_lost(cluster: LocalCluster, truth: Truth) -> float:
    """All GPUs, from the moment the step was saved that the job went back to, until it stood at that step again."""
    record = cluster.training.record
    if len(record.starts) < 2 or truth.newest_complete_step not in record.first_saved:  # noqa: PLR2004 - not resumed yet
        return 0.0
    lost = (record.starts[-1][1] - record.first_saved[truth.newest_complete_step]).total_seconds()
    return cluster.site.size * GPUS_PER_NODE * lost / 3600
