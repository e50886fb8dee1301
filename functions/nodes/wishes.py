"""What an incident's findings ask of the node: which GPUs to reset, which process to end, which service to restart.

Decides parameters from what agents saw, and nothing from what is not known: a GPU without an address is not guessed.
It must not know tables or waiting.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from functions.acts.act import ActContext
from functions.nodes.asking import Wish
from policies.contract.commands.operations import (
    LARGEST_PID,
    MOST_GPUS,
    Operation,
    ResetGpu,
    RestartProcess,
    RestartService,
    Service,
    parse_params,
)
from policies.contract.errors import BadInputError
from policies.contract.vocabulary import Kind
from policies.coordination.notes import FindingNote

# Component.key. A link of a GPU has the GPU's address: a reset of the GPU trains its links anew.
_GPU = re.compile(r"^(?:gpu|nvlink):(?P<pci>[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2})(?::|$)")
_SERVICE_OF: Mapping[Kind, Service] = {
    Kind.FABRIC_MANAGER_ERROR: "nvidia-fabricmanager",
    Kind.IMEX_ERROR: "nvidia-imex",
}
_GRACE_SECONDS = 10.0


def resets(context: ActContext) -> Sequence[Wish] | str:
    """Return one reset of every GPU that a finding of the policy names; or why there is none."""
    gpus = sorted({gpu for note in _leading(context) if (gpu := _gpu_of(note))})
    if not gpus:
        return "no finding names a GPU by its PCI address, so none is reset"
    return [Wish(Operation.RESET_GPU, ResetGpu(gpus=tuple(gpus[:MOST_GPUS])))]


def ended_processes(context: ActContext) -> Sequence[Wish] | str:
    """Return one command for each process that was hit; or why there is none."""
    wishes = list(dict.fromkeys(_ended(context)))
    return wishes or "no finding names a process or a GPU, so no process is ended"


def restarted_services(context: ActContext) -> Sequence[Wish] | str:
    """Return one command for each service that is at fault; or why there is none."""
    services = sorted({_SERVICE_OF[note.kind] for note in context.findings if note.kind in _SERVICE_OF})
    assert set(services) <= set(get_args(Service)), "the contract names them"
    if not services:
        return f"none of the findings is of a service ({', '.join(sorted(_SERVICE_OF))})"
    return [Wish(Operation.RESTART_SERVICE, RestartService(service=service)) for service in services]


def _ended(context: ActContext) -> Iterator[Wish]:
    for note in _leading(context):
        pid, gpu = note.attributes.get("pid"), _gpu_of(note)
        params = {
            "pid": pid if type(pid) is int and 1 < pid <= LARGEST_PID else None,
            "gpu": gpu,
            "started_before": note.first_observed_at,
            "grace_seconds": _GRACE_SECONDS,
        }
        try:
            parsed = parse_params(Operation.RESTART_PROCESS, params)
        except BadInputError:
            continue  # neither is known
        assert isinstance(parsed, RestartProcess), "it is asked for"
        yield Wish(Operation.RESTART_PROCESS, parsed)


def _leading(context: ActContext) -> Sequence[FindingNote]:
    """Return the findings of the policy that leads; companions of other policies ask for something else."""
    mine = [note for note in context.findings if note.policy == context.plan.name]
    return mine or context.findings


def _gpu_of(note: FindingNote) -> str | None:
    match = _GPU.match(note.component)
    return match["pci"] if match else None
