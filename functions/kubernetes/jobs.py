"""Finding the incident's job in its cluster, and saying why it is no use, or not concerned.

It must not change anything.
"""

from functions.acts.act import ActContext
from functions.ports.kubernetes import Job, JobName, KubernetesCluster
from policies.contract.vocabulary import Kind


def find_job(context: ActContext, cluster: KubernetesCluster) -> Job | str:
    """Return the job, or why there is none."""
    if context.job is None:
        return "the incident names no job; give the agent its job file, so that events carry the job's id"
    name = JobName.parse(context.job.id)
    job = cluster.job(name)
    return job or f"there is no PyTorchJob {name} in the cluster; if a person deleted it, close the incident"


def why_of_another(context: ActContext, cluster: KubernetesCluster, job: Job) -> str:
    """Return that what ran out of memory was no container of *job*, empty when it was or nobody can tell.

    A node runs other pods than those of the run; their ends stop nothing. Whoever has begun to suspend goes through.
    """
    if context.progress or any(note.kind is not Kind.CONTAINER_OOM_KILL for note in context.findings):
        return ""
    killed = {str(note.attributes.get("pod_uid", "")) for note in context.findings} - {""}
    if not killed or killed & {pod.uid for pod in cluster.pods_of(job)}:
        return ""
    return f"the container that ran out of memory is of another pod ({', '.join(sorted(killed))})"


def terminal(job: Job) -> str:
    """Return why a finished job is beyond suspending and resuming."""
    return (
        f"terminal: PyTorchJob {job.name} has {job.finished.lower()} and cannot run again;"
        " start a successor from the newest complete checkpoint"
    )
