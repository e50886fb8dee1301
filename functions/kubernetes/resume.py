"""Resume a PyTorchJob: write where to resume, then let the job go, once.

Only a job that Relight suspended is let go. The step travels as the pointer object beside the checkpoints and as an
annotation on the pods to come; both are written before or with the one patch that lifts the suspension.
"""

from functions.acts.act import ActContext
from functions.acts.support import number_of, text_of
from functions.kubernetes.jobs import find_job, terminal
from functions.kubernetes.pointer import write_pointer
from functions.ports.kubernetes import (
    RESUME_FROM,
    RESUME_STEP,
    RESUMED_BY,
    SUSPENDED_BY,
    Connect,
    JobChange,
    KubernetesCluster,
)
from functions.ports.objects import Location, Objects
from policies.contract.decisions import RungReport
from policies.contract.times import format_time


class ResumeJob:
    """The act."""

    def __init__(self, *, connect: Connect, objects: Objects) -> None:
        """Take the ports."""
        self._connect = connect
        self._objects = objects

    def advance(self, context: ActContext) -> RungReport:
        """Let the job go from the chosen step. Outcome: resumed_step, resumed_at."""
        step, checkpoint = number_of(context.facts, "chosen_step"), text_of(context.facts, "checkpoint")
        if step is None or not checkpoint:
            return context.failed("no checkpoint was chosen; choose_checkpoint comes before resume_job")
        with self._connect(context.cluster) as cluster:
            return self._resume(context, cluster, step, checkpoint)

    def _resume(self, context: ActContext, cluster: KubernetesCluster, step: int, checkpoint: str) -> RungReport:
        job = find_job(context, cluster)
        if isinstance(job, str) or job.finished:
            return context.failed(job if isinstance(job, str) else terminal(job))
        # The intention's time is before any progress of the resumed job, and the same however often this runs.
        facts = {"resumed_step": step, "resumed_at": format_time(context.intended_at)}
        if not job.suspended:
            others = (
                {} if job.annotations.get(RESUMED_BY) == context.incident else {"stood_aside": "somebody else resumed"}
            )
            return context.done(**facts, **others)
        if SUSPENDED_BY not in job.annotations:
            return context.failed(f"job {job.name} is suspended by somebody else: it is theirs to resume")
        self._point(context, step, checkpoint)
        cluster.change_job(job, _let_go(context.incident, step, checkpoint))
        return context.done(**facts)

    def _point(self, context: ActContext, step: int, checkpoint: str) -> None:
        where = text_of(context.facts, "checkpoints") or checkpoint.rpartition("/")[0]
        write_pointer(
            self._objects,
            Location.parse(where),
            step=step,
            path=checkpoint,
            incident=context.incident,
            now=context.now,
        )


def _let_go(incident: str, step: int, checkpoint: str) -> JobChange:
    return JobChange(
        suspended=False,
        annotations={SUSPENDED_BY: None, RESUMED_BY: incident, RESUME_STEP: str(step)},
        template={RESUME_FROM: checkpoint, RESUME_STEP: str(step)},
    )
