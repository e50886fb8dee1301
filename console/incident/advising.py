"""What a person does next about an incident: commands that fit what was done and what was not.

It must not look at the world; so it says where to look first. The words follow docs/operations.md, "A parked incident".
"""

from collections.abc import Iterator, Sequence

from console.incident.standing import (
    cordon,
    denied_of,
    is_given_up,
    is_isolated,
    is_resume_unproven,
    is_run_stopped,
    left,
    may_be_given_up,
    may_be_stopping,
)
from console.incident.waiting import is_short_of_a_node, waiting, waits_for_a_step, where_to_look
from policies.contract.rungs import Rung
from policies.contract.vocabulary import RECORDED, Orchestrator
from policies.coordination.approving import waits_for_approval
from policies.coordination.closing import closed_by
from policies.coordination.incident import Incident
from policies.coordination.judgements import of_hardware
from policies.coordination.states import IncidentStatus

# A piece of a parked incident's reason -> what to look at first.
_LOOK: tuple[tuple[str, str], ...] = (
    (
        "everything is stopped",
        "Everything is stopped: `relight policy list` says by whom; `relight policy start` ends it.",
    ),
    (
        "is off: stopped",
        "Its policy was turned off in mid-incident. Decide whether the fault is real, then finish by hand.",
    ),
    ("is in shadow: stopped", "Its policy was set to shadow in mid-incident. Decide whether the fault is real."),
    ("budget ", "See how many nodes fell at once: a switch, a power feed, a bad image. It is rarely the GPUs."),
    (
        "approval",
        (
            "Answer it, one of two: `relight incident approve {incident}` has it act, `relight incident deny {incident}"
            " --reason WHY` closes it."
        ),
    ),
    ("attempts ended early", "See why its executions end: docs/operations.md, ExecutionsFailed. Mend that first."),
    ("successor", "See the Auto Scaling group's activities: a Capacity Block or a reservation may be full or over."),
    ("no Auto Scaling group", "See whether its group stands in the deployment's settings."),
    ("no step past", "{pods}"),
    ("set aside before", "Several checkpoints did not load: look at the run's own log before you resume it again."),
    ("the job did not load it", "The run did not load what it was told to: look at its resume logic."),
    ("checkpoint", "See what is there: relight checkpoints inspect {checkpoints}"),
    ("overdue", "See which rung it stood at, and what that waited for."),
    ("the deadline of", "See which rung it stood at, and what that waited for."),
    ("somebody else", "Two incidents want one node: look at both."),
)

_INSTEAD = "Or by hand, instead of an answer: "
_DENIED = (
    "A person said no: `relight incident deny {incident} --for 0 --reason WHY` has what was found lately ask within a"
    " minute, and else the next finding; `--for 12h` says anew for how long nobody is asked."
)


def ways_back(incident: Incident) -> Sequence[str]:
    """Return how what a person refused of *incident*, or for what it is recorded, is asked again; none: was refused."""
    denied = incident.id if incident.denials else denied_of(incident)
    return [_DENIED.format(incident=denied[:12])] if denied else []


def next_steps(incident: Incident) -> Sequence[str]:
    """Return the steps in their order; at least one."""
    if incident.status is IncidentStatus.PARKED:
        return list(_parked(incident))
    if incident.status is IncidentStatus.CLOSED:
        if incident.denials:
            return [*ways_back(incident), *_word(incident)]
        return ways_back(incident) or list(_closed(incident)) or ["Nothing."]
    if incident.status is IncidentStatus.SETTLING:
        return [f"Nothing: it settles until {incident.settle_until:%H:%M:%S} UTC. Nothing was touched yet."]
    if waits_for_a_step(incident):
        return list(_waits(incident))
    at = incident.current.rung if incident.current else "its close"
    return [f"Nothing: it is at {at}. If it is not over by {incident.deadline:%H:%M:%S} UTC, somebody is paged."]


def _waits(incident: Incident) -> Iterator[str]:
    till = f"If it is not over by {incident.deadline:%H:%M:%S} UTC, somebody is paged."
    yield f"Nothing yet: it is at confirm_resume, and {'; '.join(waiting(incident))}. {till}"
    if where_to_look(incident):
        yield f"{where_to_look(incident)}. The first step comes once they are and the checkpoint is loaded."
    if is_short_of_a_node(incident):
        yield f"A run that needs all its nodes waits for one in the place of {incident.node.name}:"
        yield from _node(incident)


def _parked(incident: Incident) -> Iterator[str]:
    waits = waits_for_approval(incident)
    pieces = "approval" if waits else incident.reason  # what a person said may hold any of them
    yield next((look for piece, look in _LOOK if piece in pieces), "Read the reason above.").format(
        checkpoints=incident.facts.get("checkpoints") or (incident.job.checkpoint if incident.job else "") or "s3://…",
        incident=incident.id[:12],
        pods=_pods(incident),
    )
    close = f'relight incident close {incident.id[:12]} --reason "what you found and did"'
    if not waits:
        yield from (*_node(incident), *_run(incident), f"Last: {close}")
        return
    # Who does it by hand as well as approves it has it done twice.
    yield from (f"{_INSTEAD}{step[0].lower()}{step[1:]}" for step in (*_node(incident), *_run(incident)))
    yield f"{_INSTEAD}last: {close}"


def _closed(incident: Incident) -> Iterator[str]:
    """Yield what of it still stands, which nobody sees to any more; nothing where it ended as it should."""
    if incident.outcome == RECORDED:
        yield "Nobody acted on it. If the fault is real, see to the node by hand."
        return
    who = closed_by(incident)
    stands = left(incident) if who and incident.acted else cordon(incident)
    if who or stands:
        yield f"{f'{who} closed it by hand' if who else 'It is over'}: Relight does nothing more for it."
    if stands:
        yield f"Unless somebody saw to it since, there still is: {'; '.join(stands)}."
    if is_isolated(incident) or (who and may_be_given_up(incident)):
        yield from _node(incident)
    if who:
        yield from (*_run(incident), *_going_on(incident), *_word(incident))


def _going_on(incident: Incident) -> Iterator[str]:
    if incident.job and is_resume_unproven(incident):
        yield f"Run {incident.job.id} was let go, and nobody saw it go on: look at its newest step."


def _word(incident: Incident) -> Iterator[str]:
    """Yield how a person says what it was: closing it says nothing of the hardware."""
    if of_hardware(incident.judgements) is None:
        verdict = f"relight incident verdict {incident.id[:12]}"
        yield f'Say how the hardware was, which no answer and no close does: {verdict} faulty --why "…"; or healthy'
    yield f"What came of this node since: relight incident list --closed --node {incident.node.instance_id}"


def _pods(incident: Incident) -> str:
    short = f" Node {incident.node.name} is cordoned by this incident, and nothing brought another."
    look = where_to_look(incident) or "See whether the run began at all"
    return f"{look}.{short if is_short_of_a_node(incident) else ''} Where they are, look at its newest logs."


def _node(incident: Incident) -> Iterator[str]:
    instance, name = incident.node.instance_id, incident.node.name
    if is_given_up(incident):
        return
    if may_be_given_up(incident):
        yield f"See whether it was given up: aws autoscaling describe-auto-scaling-instances --instance-ids {instance}"
    yield (
        "If the node is broken: aws autoscaling terminate-instance-in-auto-scaling-group"
        f" --instance-id {instance} --no-should-decrement-desired-capacity"
    )
    if is_isolated(incident):
        yield (
            f"Or, if it is sound: kubectl uncordon {name}; kubectl taint nodes {name} relight.dev/isolated:NoSchedule-;"
            f" kubectl annotate node {name} relight.dev/incident- relight.dev/cordoned-by-"
        )


def _run(incident: Incident) -> Iterator[str]:
    job = incident.job
    if job is None or not (is_run_stopped(incident) or may_be_stopping(incident)):
        return
    if job.orchestrator is Orchestrator.SAGEMAKER:
        yield f"Training job {job.id} has ended: start its successor by hand, from the checkpoint you choose."
        return
    namespace, _, name = job.id.rpartition("/")
    where = f"kubectl -n {namespace or 'default'}"
    if Rung.CHOOSE_CHECKPOINT not in incident.done:
        yield f"Choose where run {job.id} resumes, with its owner: it resumes where its own code looks."
    yield (
        f'Let run {job.id} go: {where} patch pytorchjob {name} --type merge -p \'{{"spec": {{"runPolicy":'
        f' {{"suspend": false}}}}}}\'; {where} annotate pytorchjob {name} relight.dev/suspended-by-'
    )
