"""The rungs that a node's agent carries out: restart_process, restart_service, reset_gpu.

Each asks for what the findings name and waits until the agent has seen that it worked. It must not know how it is done.
"""

from collections.abc import Callable, Sequence

from functions.acts.act import ActContext
from functions.nodes.asking import Asking, Wish
from functions.nodes.wishes import ended_processes, resets, restarted_services
from policies.contract.commands.operations import ResetGpu
from policies.contract.decisions import RungReport


class ResetGpus:
    """The act. Outcome: reset_gpus, their PCI addresses."""

    def __init__(self, asking: Asking) -> None:
        """Ask by *asking*."""
        self._asking = asking

    def advance(self, context: ActContext) -> RungReport:
        """Have the GPUs reset and seen to answer."""
        wishes = resets(context)
        if isinstance(wishes, str):
            return context.failed(wishes)
        gpus = [gpu for wish in wishes if isinstance(wish.params, ResetGpu) for gpu in wish.params.gpus]
        return self._asking.advance(context, wishes, reset_gpus=gpus)


class Restart:
    """The act of both restarts: *wishes* says of what."""

    def __init__(self, asking: Asking, wishes: Callable[[ActContext], Sequence[Wish] | str]) -> None:
        """Ask by *asking* for *wishes*."""
        self._asking = asking
        self._wishes = wishes

    def advance(self, context: ActContext) -> RungReport:
        """Have it restarted."""
        wishes = self._wishes(context)
        return context.failed(wishes) if isinstance(wishes, str) else self._asking.advance(context, wishes)


def restart_process(asking: Asking) -> Restart:
    """Return the act that ends the processes that were hit."""
    return Restart(asking, ended_processes)


def restart_service(asking: Asking) -> Restart:
    """Return the act that restarts the services that are at fault."""
    return Restart(asking, restarted_services)
