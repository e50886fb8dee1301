"""What may be asked of a node: a closed list of named operations, each with typed parameters and a deadline.

There is no operation that takes a program or a line for a shell. Decides what is a valid parameter and how long an
operation may take. It must not know how one is carried out (`agent/commands/` does).
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from policies.contract.base import Model
from policies.contract.envelope import explain
from policies.contract.errors import BadInputError
from policies.contract.events import LONGEST_JOB_ID, Pci
from policies.contract.times import Moment

MOST_PIDS = 64
MOST_GPUS = 16  # a board has eight
LARGEST_PID = 2**22  # PID_MAX_LIMIT of 64-bit Linux
LARGEST_TOKEN = 2**63 - 1
CLAIM_SECONDS = 90.0  # a calm agent looks every 30 s: three looks, then nobody is there to do it


class Operation(StrEnum):
    """What a node can be told to do."""

    COLLECT_EVIDENCE = "collect_evidence"  # keep logs, stacks and counters, and put them into the evidence bucket
    REQUEST_SAVE = "request_save"  # ask the training processes here for a checkpoint now, by their beat files
    RESET_GPU = "reset_gpu"  # nvidia-smi --gpu-reset, of GPUs that no process holds
    RESTART_PROCESS = "restart_process"  # end a training process: whoever launched it starts it again
    RESTART_SERVICE = "restart_service"  # systemctl restart, of the few services below
    BURN_IN = "burn_in"  # dcgmi diag, of GPUs that no process holds


# The services that an answer to a fault of theirs restarts. Kubelet and container runtime are none of them: a restart
# hides why they are down, and takes nothing from the node that isolating it does not.
Service = Literal["nvidia-fabricmanager", "nvidia-persistenced", "nvidia-imex"]
_Pid = Annotated[int, Field(ge=2, le=LARGEST_PID)]  # 1 is init


class Params(BaseModel):
    """Parameters of one operation; what is not named here is refused, not ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class CollectEvidence(Params):
    """``pids``: whose stacks; none: all that hold a GPU or beat."""

    reason: Annotated[str, StringConstraints(max_length=200)] = ""
    pids: Annotated[tuple[_Pid, ...], Field(max_length=MOST_PIDS)] = ()


class RequestSave(Params):
    """``token`` names this request; who has saved for it answers with it. ``job``: only that job's processes."""

    token: Annotated[int, Field(ge=1, le=LARGEST_TOKEN)]
    job: Annotated[str, StringConstraints(max_length=LONGEST_JOB_ID)] = ""


class ResetGpu(Params):
    """``gpus`` by PCI address; none: every GPU of the node, in one command."""

    gpus: Annotated[tuple[Pci, ...], Field(max_length=MOST_GPUS)] = ()


class RestartProcess(Params):
    """Which process to end: by ``pid`` (of the host), or whoever holds ``gpu``.

    ``started_before``: a process that began later has the number by chance, or is the restarted one. ``name`` as the
    kernel prints it. SIGTERM first, SIGKILL after ``grace_seconds``.
    """

    pid: _Pid | None = None
    gpu: Pci | None = None
    name: Annotated[str, StringConstraints(max_length=64)] = ""
    started_before: Moment | None = None
    grace_seconds: Annotated[float, Field(ge=0, le=120)] = 10.0

    @model_validator(mode="after")
    def _one_is_meant(self) -> Self:
        if self.pid is None and self.gpu is None:
            raise ValueError("name a pid or a gpu")
        return self


class RestartService(Params):
    """``service`` without its suffix."""

    service: Service


class BurnIn(Params):
    """``level`` is DCGM's: 1 takes a minute, 2 some minutes, 3 half an hour, 4 an hour and more."""

    level: Annotated[int, Field(ge=1, le=4)] = 2


PARAMS: Mapping[Operation, type[Params]] = {
    Operation.COLLECT_EVIDENCE: CollectEvidence,
    Operation.REQUEST_SAVE: RequestSave,
    Operation.RESET_GPU: ResetGpu,
    Operation.RESTART_PROCESS: RestartProcess,
    Operation.RESTART_SERVICE: RestartService,
    Operation.BURN_IN: BurnIn,
}
# How long one may run, in seconds. DCGM user guide, "Run levels and tests": seconds, 2 min, 30 min, 1-2 hours on a
# board of eight; and the time to start.
_BURN_IN_SECONDS = {1: 300.0, 2: 900.0, 3: 3600.0, 4: 10_800.0}
_SECONDS: Mapping[Operation, float] = {
    Operation.COLLECT_EVIDENCE: 180.0,
    Operation.REQUEST_SAVE: 900.0,
    Operation.RESET_GPU: 180.0,
    Operation.RESTART_PROCESS: 150.0,
    Operation.RESTART_SERVICE: 120.0,
}


def parse_params(operation: Operation, params: Mapping[str, Any]) -> Params:
    """Return *params* as the operation's own; BadInputError says what is wrong with them."""
    try:
        return PARAMS[operation].model_validate(dict(params))
    except ValidationError as error:
        names = ", ".join(PARAMS[operation].model_fields)
        raise BadInputError(f"{operation}: {explain(error)}.", hint=f"Its parameters are: {names}.") from None


def longest_run(params: Params) -> float:
    """Return how many seconds the operation of *params* may run."""
    if isinstance(params, BurnIn):
        return _BURN_IN_SECONDS[params.level]
    return next(_SECONDS[each] for each, its in PARAMS.items() if its is type(params))


class Taken(Model):
    """What the agent of a node takes: written by itself when it begins, so that nobody waits for it in vain."""

    operations: tuple[Operation, ...]
    boot_id: str
    at: Moment
