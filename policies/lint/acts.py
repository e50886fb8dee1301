"""Mistakes of `do` and `otherwise`: acts on the wrong party, acts that nothing clears, nobody carries out or repeats.

Decides by DESIGN's judgements: who prints a fault is often its victim, an error of the program follows it to any node.
"""

from collections.abc import Iterator, Mapping

from policies.contract.vocabulary import TOUCHES_NOTHING, Action, EvidenceRule, Kind
from policies.coordination.plan import CARRIED_OUT, FROM_OUTSIDE
from policies.lint.branches import Branch
from policies.lint.flaw import Flaw
from policies.lint.reading import HARD, KIND, ON_NODES, Reading, kinds_of, only_kinds, xids_of
from policies.model import LONGEST_COUNT_OF_OCCURRENCES

# NVIDIA, "Xid Errors": the application's own unless the same GPU fails under distinct jobs. 45 is a cleanup.
PROGRAMS_XIDS, SYMPTOM_XIDS = frozenset({13, 31, 43}), frozenset({45})
PROGRAMS_KINDS = frozenset({Kind.TRAINING_USER_ERROR, Kind.TRAINING_OUT_OF_MEMORY, Kind.CONTAINER_OOM_KILL})
SYMPTOM_KINDS = frozenset({Kind.TRAINING_PEER_LOST, Kind.TRAINING_COLLECTIVE_TIMEOUT, Kind.NETWORK_PEER_UNRESPONSIVE})
SHARED_KINDS = frozenset({Kind.STORAGE_NFS_STALLED, Kind.STORAGE_LUSTRE_STALLED, Kind.STORAGE_LUSTRE_EVICTED})
SERVICE_KINDS = frozenset({Kind.FABRIC_MANAGER_ERROR, Kind.IMEX_ERROR})
HARDWARE = ("gpu.", "nvlink.", "nvswitch.", "pcie.", "host.memory", "host.machine")
_GPU_FAMILIES = ("gpu.", "nvlink.")
_MOST_ACTS = 8  # of a ladder (policies/model.py)
# What brings a node: a successor, or the same one, proved and released.
_BRINGS_A_NODE = frozenset({Action.REPLACE_NODE, Action.RESET_GPU})
# EC2 ends these instances, and their Auto Scaling group launches others by itself.
_LEAVES_BY_ITSELF = frozenset({Kind.INSTANCE_SPOT_INTERRUPTION, Kind.INSTANCE_LIFECYCLE_HOOK})
_CLEARING = HARD | {Action.RESTART_SERVICE}


def act_flaws(read: Reading) -> Iterator[Flaw]:
    """Yield what is wrong with the acts of *read*."""
    yield from _wrong_party(read)
    yield from _latched(read)
    yield from _ladders(read)
    yield from _short_of_a_node(read)
    yield from _targets(read)


def _wrong_party(read: Reading) -> Iterator[Flaw]:
    if not read.counts_jobs:
        for field, actions in read.ladders:
            told = next((told for branch in read.possible if (told := _programs(branch))), "")
            if told and actions & ON_NODES:
                yield Flaw.of(
                    "L301",
                    field,
                    f"{told} is the program's own doing and follows it to any node.",
                    f"Leave the node alone{_under_jobs(read)}.",
                )
            told = next((told for branch in read.possible if (told := _symptom(branch))), "")
            if told and actions & ON_NODES:
                yield Flaw.of(
                    "L302",
                    field,
                    f"{told} is printed by healthy nodes when another one fails.",
                    "Act on the cause's own kind; alert here.",
                )
    shared = only_kinds(read.possible, SHARED_KINDS)
    for field, actions in read.ladders:
        if shared and actions & HARD:
            yield Flaw.of(
                "L316",
                field,
                f"{shared[0]} is of a file system that many nodes share.",
                "Another node would stall as well: page.",
            )


def _under_jobs(read: Reading) -> str:
    """Return the count that tells a node from its programs, where one goes with the rest of *read*."""
    if read.policy.dwell is not None:
        return ""
    at_least = min(max(read.policy.count.at_least, 2), LONGEST_COUNT_OF_OCCURRENCES)
    return f", or wait for other jobs with count: {{at_least: {at_least}, within: 1d, distinct: job.id}}"


def _programs(branch: Branch) -> str:
    kinds, xids = kinds_of(branch), xids_of(branch)
    if kinds and kinds <= PROGRAMS_KINDS:
        return min(kinds)
    if _tied(branch, KIND, Kind.GPU_XID) and xids and xids <= PROGRAMS_XIDS:
        return f"Xid {min(xids)}"
    failed = _tied(branch, KIND, Kind.JOB_FAILED) and _tied(branch, "event.attributes.cause", "program")
    return "a job.failed of cause program" if failed else ""


def _symptom(branch: Branch) -> str:
    kinds, xids = kinds_of(branch), xids_of(branch)
    if kinds and kinds <= SYMPTOM_KINDS:
        return min(kinds)
    return "Xid 45" if _tied(branch, KIND, Kind.GPU_XID) and xids and xids <= SYMPTOM_XIDS else ""


def stays_broken(read: Reading) -> bool:
    """Whether *read* is about a part that holds its fault until a reset or boot, and acts without bringing one.

    Who only stops the job goes on with the part still broken.
    """
    kinds = [kind for branch in read.possible for kind in kinds_of(branch) or ()]
    hardware = bool(kinds) and all(kind.startswith(HARDWARE) for kind in kinds)
    every = frozenset(read.policy.do) | frozenset(read.policy.otherwise)
    clears = every & _CLEARING or Action.PAGE_OPERATOR in read.policy.do  # or a person does
    return hardware and bool(read.acts) and not clears


def _latched(read: Reading) -> Iterator[Flaw]:
    if read.policy.evidence is EvidenceRule.LATCHED and stays_broken(read):
        acts = ", ".join(sorted(read.acts))
        yield Flaw.of(
            "L303",
            "evidence",
            f"the fault holds until a reset or boot, and {acts} brings neither.",
            "Add reset_gpu or replace_node, or take transient.",
        )


def _ladders(read: Reading) -> Iterator[Flaw]:
    policy = read.policy
    if policy.otherwise and frozenset(policy.otherwise) <= frozenset(policy.do):
        yield Flaw.of("L311", "otherwise", "it only repeats what has failed.", "Go one rung up, or page_operator.")
    if Action.SUSPEND_JOB in policy.do and not {Action.RESUME_JOB, Action.PAGE_OPERATOR} & frozenset(policy.do):
        yield Flaw.of(
            "L310",
            "do",
            "the run is stopped, nobody lets it go on, and nobody is paged.",
            "Add resume_job or page_operator.",
        )
    if policy.approval and frozenset(policy.do) <= TOUCHES_NOTHING:
        yield Flaw.of("L312", "approval", "nothing is done that a person could approve.", "Leave it out.")
    missing = [action for action in policy.do if action not in CARRIED_OUT]
    if read.is_active and missing:
        yield Flaw.of(
            "L313",
            "do",
            f"{', '.join(missing)} is carried out by nobody yet, so nothing is done at all.",
            "Take other acts, or mode: shadow.",
        )
    for field, actions in read.ladders:
        alone = actions & {Action.REBOOT_NODE, Action.RELOAD_DRIVER, Action.DRAIN}
        if alone and Action.ISOLATE not in actions:
            yield Flaw.of(
                "L317", field, f"{min(alone)} without isolate lets new work land meanwhile.", "Put isolate before it."
            )


def _short_of_a_node(read: Reading) -> Iterator[Flaw]:
    """A gang that lost a node to `isolate` has no place for all its pods, unless a node is to spare or comes."""
    leaves = bool(read.possible) and all((kinds_of(branch) or {""}) <= _LEAVES_BY_ITSELF for branch in read.possible)
    for field, ladder in (("do", read.policy.do), ("otherwise", read.policy.otherwise)):
        acts = frozenset(ladder)
        resumed = Action.RESUME_JOB in acts and Action.ISOLATE in acts
        if resumed and not acts & _BRINGS_A_NODE and not leaves and len(ladder) < _MOST_ACTS:
            at = ladder.index(Action.ISOLATE) + 1
            brings = ", ".join((*ladder[:at], Action.REPLACE_NODE, *ladder[at:]))
            reason = "the run is resumed, and nothing brings a node for the isolated one: a run that needs all waits."
            yield Flaw.of("L323", field, reason, f"{field}: [{brings}], unless nodes stand idle or the run is elastic.")


def _targets(read: Reading) -> Iterator[Flaw]:
    told = only_kinds(read.possible, FROM_OUTSIDE)
    if told and frozenset(read.policy.do) & {Action.SUSPEND_JOB, Action.RESUME_JOB}:
        reason = f"{told[0]} is told by who knows neither the node's job nor its checkpoints."
        yield Flaw.of("L318", "do", reason, "Where the event names no job, the acts on it are left out.")
    for field, actions in read.ladders:
        for action, reason in _AIMLESS.items():
            kinds = [_kinds for branch in read.possible if (_kinds := kinds_of(branch))]
            if action in actions and kinds and not any(_aims(action, each) for each in kinds):
                yield Flaw.of("L314", field, f"{min(kinds[0])} {reason}.", f"{action} does nothing for it.")
        if actions & ON_NODES and any(_tied(branch, "job.orchestrator", "sagemaker") for branch in read.possible):
            yield Flaw.of(
                "L315",
                field,
                "SageMaker repairs its instances itself: no node there is ours.",
                "resume_job alone starts the run again.",
            )


_AIMLESS: Mapping[Action, str] = {
    Action.RESET_GPU: "names no GPU to reset",
    Action.RESTART_PROCESS: "names neither a GPU nor a process",
    Action.RESTART_SERVICE: "is of no service",
}


def _aims(action: Action, kinds: frozenset[str]) -> bool:
    if action is Action.RESTART_SERVICE:
        return bool(kinds & SERVICE_KINDS)
    families = (
        (*_GPU_FAMILIES, "process.", "host.oom_kill", "training.")
        if action is Action.RESTART_PROCESS
        else _GPU_FAMILIES
    )
    return any(kind.startswith(families) for kind in kinds)


def _tied(branch: Branch, path: str, word: str) -> bool:
    texts = branch.texts(path)
    return texts is not None and len(texts) == 1 and word in texts
