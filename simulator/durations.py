"""How long a rung takes where the archive does not tell: for incidents that did not happen, and rungs never reached.

Typical ones, not promises: they decide when a rehearsed run is back, never what is decided. Where nobody has published
a figure, the executor's own waits are the source.
"""

from collections.abc import Mapping

from policies.contract.rungs import Rung

TYPICAL_SECONDS: Mapping[Rung, float] = {
    Rung.ISOLATE: 2.0,  # two writes to the Kubernetes API (functions/kubernetes/isolate.py)
    Rung.COLLECT_EVIDENCE: 30.0,  # a command is fetched and a bundle uploaded; nvidia-bug-report takes most of it
    # StopInstances and TerminateInstances of a GPU instance: "can take a few minutes" (EC2 user guide, Stop and start).
    Rung.FENCE_NODE: 120.0,
    Rung.SUSPEND_JOB: 45.0,  # a pod has 30 s to end (Kubernetes, terminationGracePeriodSeconds), then it is looked at
    Rung.RESTART_PROCESS: 15.0,  # SIGTERM, ten seconds, SIGKILL (agent/commands/doings/restart_process.py)
    Rung.RESTART_SERVICE: 30.0,
    Rung.RESET_GPU: 30.0,  # nvidia-smi --gpu-reset of an NVSwitch system re-trains all links
    # Launch, boot and join of a p5: the health check grace period of an Auto Scaling group is 300 s by default.
    Rung.REPLACE_NODE: 300.0,
    Rung.VERIFY_NODE: 60.0,
    Rung.RELEASE_NODE: 2.0,
    Rung.CHOOSE_CHECKPOINT: 10.0,
    Rung.RESUME_JOB: 5.0,
    Rung.CONFIRM_RESUME: 180.0,  # images are there; NCCL's start and the reading of a checkpoint are not
}
OTHERWISE_SECONDS = 60.0


def typical_seconds(rung: Rung) -> float:
    """Return how long *rung* takes as a rule."""
    return TYPICAL_SECONDS.get(rung, OTHERWISE_SECONDS)
