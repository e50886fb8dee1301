"""Finding the incident's job in its cluster, and saying why it is no use.

It must not change anything.
"""

from functions.acts.act import ActContext
from functions.ports.kubernetes import Job, JobName, KubernetesCluster


def find_job(context: ActContext, cluster: KubernetesCluster) -> Job | str:
    """Return the job, or why there is none."""
    if context.job is None:
        return "the incident names no job; give the agent its job file, so that events carry the job's id"
    name = JobName.parse(context.job.id)
    job = cluster.job(name)
    return job or f"there is no PyTorchJob {name} in the cluster; if a person deleted it, close the incident"


def terminal(job: Job) -> str:
    """Return why a finished job is beyond suspending and resuming."""
    return (
        f"terminal: PyTorchJob {job.name} has {job.finished.lower()} and cannot run again;"
        " start a successor from the newest complete checkpoint"
    )
