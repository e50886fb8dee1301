"""Lays a policy's actions out into rungs, in the one order that is safe, with who carries each out.

Cordon, keep the evidence, stop the whole gang, mend the node or give it up, prove it or its successor, then resume:
pods of a gang are never evicted first. A node that is given up is not mended before. It must not know incidents.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from policies.contract.rungs import Executor, Rung
from policies.contract.vocabulary import Action, Kind, Orchestrator
from policies.coordination.notes import PlannedRung

ORDER = (
    Rung.ISOLATE,
    Rung.COLLECT_EVIDENCE,  # before anything dies with its containers
    Rung.FENCE_NODE,  # a dead node answers no eviction: make sure it is dead before its pods are forced away
    Rung.SUSPEND_JOB,
    Rung.RESTART_PROCESS,
    Rung.RESTART_SERVICE,
    Rung.RESET_GPU,  # only when nothing holds the GPU any more
    Rung.REPLACE_NODE,
    Rung.VERIFY_NODE,
    Rung.RELEASE_NODE,  # before the run is let go: it needs the place
    Rung.CHOOSE_CHECKPOINT,
    Rung.RESUME_JOB,
    Rung.CONFIRM_RESUME,
    Rung.PAGE_OPERATOR,
)
RESUME_RUNGS = frozenset({Rung.CHOOSE_CHECKPOINT, Rung.RESUME_JOB, Rung.CONFIRM_RESUME})
STOOD_ASIDE = "stood_aside"  # the outcome in which an act says why it left the run to somebody else
FROM_OUTSIDE = frozenset({Kind.NODE_SILENT, Kind.INSTANCE_STATE_CHANGED, Kind.INSTANCE_STATUS_IMPAIRED})
"""What is told by who knows no run: the sweep, and AWS."""
MAYBE_DEAD = FROM_OUTSIDE | {Kind.HOST_PANIC}  # a kernel that stopped says it with its last breath

_ALWAYS: Mapping[Action, frozenset[Rung]] = {
    Action.RECORD: frozenset(),
    Action.ALERT: frozenset(),
    Action.ISOLATE: frozenset({Rung.ISOLATE}),
    Action.COLLECT_EVIDENCE: frozenset({Rung.COLLECT_EVIDENCE}),
    Action.REPLACE_NODE: frozenset({Rung.ISOLATE, Rung.COLLECT_EVIDENCE, Rung.REPLACE_NODE, Rung.VERIFY_NODE}),
    Action.RESTART_PROCESS: frozenset({Rung.COLLECT_EVIDENCE, Rung.RESTART_PROCESS}),
    Action.RESTART_SERVICE: frozenset({Rung.COLLECT_EVIDENCE, Rung.RESTART_SERVICE}),
    Action.RESET_GPU: frozenset({
        Rung.ISOLATE,
        Rung.COLLECT_EVIDENCE,
        Rung.RESET_GPU,
        Rung.VERIFY_NODE,
        Rung.RELEASE_NODE,
    }),
    Action.SUSPEND_JOB: frozenset(),
    Action.RESUME_JOB: frozenset(),
    Action.PAGE_OPERATOR: frozenset({Rung.PAGE_OPERATOR}),
}  # fmt: skip
CARRIED_OUT = frozenset(_ALWAYS)
# What a command to the node does. Where there is no node of ours, nobody carries it out.
_MENDS: Mapping[Action, Rung] = {
    Action.RESTART_PROCESS: Rung.RESTART_PROCESS,
    Action.RESTART_SERVICE: Rung.RESTART_SERVICE,
    Action.RESET_GPU: Rung.RESET_GPU,
}
# What is needless for a node that is given up.
ONLY_WHEN_KEPT = frozenset({*_MENDS.values(), Rung.RELEASE_NODE})
_WITH_JOB: Mapping[Action, frozenset[Rung]] = {
    Action.SUSPEND_JOB: frozenset({Rung.COLLECT_EVIDENCE, Rung.SUSPEND_JOB}),
    Action.RESUME_JOB: frozenset({Rung.COLLECT_EVIDENCE, Rung.SUSPEND_JOB}) | RESUME_RUNGS,
}

_EKS: Mapping[Rung, Executor | None] = {
    Rung.ISOLATE: Executor.KUBERNETES,
    Rung.COLLECT_EVIDENCE: Executor.EVIDENCE,
    Rung.FENCE_NODE: Executor.INSTANCES,
    Rung.SUSPEND_JOB: Executor.KUBERNETES,
    Rung.RESTART_PROCESS: Executor.NODES,
    Rung.RESTART_SERVICE: Executor.NODES,
    Rung.RESET_GPU: Executor.NODES,
    Rung.REPLACE_NODE: Executor.INSTANCES,
    Rung.VERIFY_NODE: Executor.KUBERNETES,
    Rung.RELEASE_NODE: Executor.KUBERNETES,
    Rung.CHOOSE_CHECKPOINT: Executor.CHECKPOINTS,
    Rung.RESUME_JOB: Executor.KUBERNETES,
    Rung.CONFIRM_RESUME: Executor.CHECKPOINTS,
    Rung.PAGE_OPERATOR: None,
}
# SageMaker repairs its instances itself: there is no node of ours to isolate, replace or verify.
_SAGEMAKER: Mapping[Rung, Executor | None] = {
    Rung.COLLECT_EVIDENCE: Executor.EVIDENCE,
    Rung.SUSPEND_JOB: Executor.SAGEMAKER,
    Rung.CHOOSE_CHECKPOINT: Executor.CHECKPOINTS,
    Rung.RESUME_JOB: Executor.SAGEMAKER,
    Rung.CONFIRM_RESUME: Executor.SAGEMAKER,
    Rung.PAGE_OPERATOR: None,
}
EXECUTORS: Mapping[Orchestrator, Mapping[Rung, Executor | None]] = {
    Orchestrator.EKS: _EKS,
    Orchestrator.SAGEMAKER: _SAGEMAKER,
}


@dataclass(frozen=True)
class Layout:
    """The rungs of a list of actions, and the actions that nobody carries out yet."""

    rungs: tuple[PlannedRung, ...]
    unsupported: tuple[Action, ...]

    @property
    def acts(self) -> bool:
        """Whether every action has somebody who carries it out, and at least one has something to do."""
        return not self.unsupported and any(rung.executor for rung in self.rungs)


def lay_out(
    actions: Collection[Action],
    *,
    orchestrator: Orchestrator,
    has_job: bool,
    maybe_dead: bool,
    done: Collection[Rung] = (),
) -> Layout:
    """Return *actions* as rungs without those that are *done*; a ladder asks again for what must be proved again."""
    executors = EXECUTORS.get(orchestrator)
    if executors is None:
        return Layout((), tuple(actions))
    wanted: set[Rung] = set()
    for action in actions:
        wanted |= _ALWAYS.get(action, frozenset())
        wanted |= _WITH_JOB.get(action, frozenset()) if has_job else frozenset()
    if Rung.REPLACE_NODE in wanted:
        wanted = (wanted - ONLY_WHEN_KEPT) | ({Rung.FENCE_NODE} if maybe_dead else set())
    if {
        Rung.SUSPEND_JOB,
        Rung.RESET_GPU,
    } <= wanted:  # the stop ends the process, and the reset proves that none is left
        wanted.discard(Rung.RESTART_PROCESS)
    behind = set(done) - _to_do_again(wanted, done)
    rungs = (PlannedRung(rung=rung, executor=executors[rung]) for rung in ORDER if rung in wanted and rung in executors)
    return Layout(
        tuple(each for each in rungs if each.rung not in behind),
        tuple(action for action in actions if not _has_somebody(action, executors)),
    )


def _to_do_again(wanted: Collection[Rung], done: Collection[Rung]) -> set[Rung]:
    """Return what of *done* counts no more: a successor is not proven yet, a node that was let go not isolated."""
    if Rung.REPLACE_NODE not in wanted:
        return set()
    return {Rung.VERIFY_NODE} | ({Rung.ISOLATE} if Rung.RELEASE_NODE in done else set())


def _has_somebody(action: Action, executors: Collection[Rung]) -> bool:
    return action in CARRIED_OUT and (action not in _MENDS or _MENDS[action] in executors)
