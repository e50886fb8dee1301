"""The rungs of an incident: the small steps, each with one effect, into which a policy's actions are laid out.

It must not know how a rung is carried out, only which executor (one Lambda, one role) does it.
"""

from enum import StrEnum


class Rung(StrEnum):
    """One step of handle-incident. Actions are a policy's words; rungs are what coordinate lays them out into."""

    ISOLATE = "isolate"  # cordon and taint the node: nothing new lands on it
    COLLECT_EVIDENCE = "collect_evidence"  # keep what dies with the containers
    SUSPEND_JOB = "suspend_job"  # stop the whole gang and wait until its pods are gone, by uid
    FENCE_NODE = "fence_node"  # a node that may be dead: stop or terminate before its pods are forced away
    REPLACE_NODE = "replace_node"  # give the instance up and wait for its successor to run
    VERIFY_NODE = "verify_node"  # prove the successor healthy, then lift its startup taint
    CHOOSE_CHECKPOINT = "choose_checkpoint"  # newest complete one; only the last holder of the job does this
    RESUME_JOB = "resume_job"  # write where to resume, then let the job go once
    CONFIRM_RESUME = "confirm_resume"  # the first step seen after the restart is past the chosen one
    RESTART_PROCESS = "restart_process"  # end the process that was hit; its launcher starts it again
    RESTART_SERVICE = "restart_service"  # restart the service that was named on its node
    RESET_GPU = "reset_gpu"  # reset the GPUs that were named, once nothing holds them
    RELEASE_NODE = "release_node"  # the same node is well again: take back what isolate did, and only that
    REBOOT_NODE = "reboot_node"
    PAGE_OPERATOR = "page_operator"  # a person is asked; the incident parks


MENDS = frozenset({Rung.RESTART_SERVICE, Rung.RESET_GPU, Rung.REBOOT_NODE})
"""What makes the same hardware well again."""
GIVES_UP = frozenset({Rung.FENCE_NODE, Rung.REPLACE_NODE})
"""What hardware does not come back from."""
TAKES_OUT = GIVES_UP | {Rung.ISOLATE}
"""What a node gets no new work after."""
ON_HARDWARE = MENDS | TAKES_OUT
"""What is done to a node, whatever runs on it."""


class Executor(StrEnum):
    """The Lambda that carries a rung out; handle-incident chooses its task by this word."""

    KUBERNETES = "kubernetes"
    INSTANCES = "instances"
    CHECKPOINTS = "checkpoints"
    SAGEMAKER = "sagemaker"
    EVIDENCE = "evidence"
    NODES = "nodes"  # by commands that the node's agent fetches


class RungStatus(StrEnum):
    """How far a rung is."""

    DONE = "done"
    WAITING = "waiting"  # under way in the world; look again after wait_seconds
    FAILED = "failed"  # it will not work: the ladder goes to its next action
