"""Reset GPUs that no process holds, with nvidia-smi, and look whether they answer.

From Ampere on one GPU can be reset by itself, on NVSwitch boards of Ampere while fabric manager runs; before, and
without it, those that it has NVLinks to must be named in the same command, and nvidia-smi says which. So it is asked,
and its refusal is the answer. Source: nvidia-smi(1), --gpu-reset.

After a crash in the middle nobody can tell whether the reset was made: it is told as failed, and whoever asked may ask
again. After a reboot every GPU was reset. It must not decide which GPU deserves it.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from agent.commands.doing import Errand, Outcome, Resource
from agent.commands.holders import holders
from agent.programs import Said, run
from policies.contract.commands.operations import ResetGpu

_PROGRAM = "nvidia-smi"
_LOOK_SECONDS = 30.0
_ANSWERS = ("--query-gpu=pci.bus_id", "--format=csv,noheader")
_NAMED = 5


class ResetsGpu:
    """`reset_gpu`."""

    resource = Resource.GPUS

    def __init__(self, procfs: Path, resting: Callable[[], AbstractContextManager[None]]) -> None:
        """Look at *procfs* for who holds a GPU. While *resting* this agent itself holds none open."""
        self._procfs = procfs
        self._resting = resting

    def why_not(self, params: ResetGpu) -> str:
        """Refuse while a process holds one of them: a reset would take it from under it."""
        found = holders(self._procfs, params.gpus)
        names = ", ".join(f"{one.name} ({one.pid})" for one in found[:_NAMED])
        return f"{len(found)} processes hold the GPU: {names}; end or suspend the job first" if found else ""

    def run(self, params: ResetGpu, errand: Errand) -> Outcome:
        """Reset, then ask each for its address."""
        with self._resting():
            said = run([_PROGRAM, "--gpu-reset", *_chosen(params.gpus)], errand.left)
        if not said.ok:
            return Outcome(ok=False, reason=str(said), output=said.output)
        return self._looked(params, errand, said)

    def look_back(self, params: ResetGpu, errand: Errand) -> Outcome:
        """A reboot is a reset; without one nobody knows."""
        if not errand.rebooted:
            return Outcome(ok=False, reason="nobody can tell whether the GPU was reset")
        return self._looked(params, errand, Said("the node was started anew, which resets every GPU\n"))

    def _looked(self, params: ResetGpu, errand: Errand, said: Said) -> Outcome:
        answer = run([_PROGRAM, *_chosen(params.gpus), *_ANSWERS], min(_LOOK_SECONDS, errand.left))
        output = said.output + answer.output
        answered = {_short(line) for line in answer.output.split() if ":" in line}
        missing = [gpu for gpu in params.gpus if _short(gpu) not in answered]
        if not answer.ok or missing or not answered:
            why = str(answer) if not answer.ok else f"no answer from {', '.join(missing) or 'any GPU'}"
            return Outcome(ok=False, reason=f"it was reset, and does not answer: {why}", output=output)
        return Outcome(ok=True, output=output, facts={"gpus": len(answered)})


def _chosen(gpus: Iterable[str]) -> list[str]:
    """Return the words that name them, none for all: ``-i 0000:4b:00.0,0000:5d:00.0``."""
    named = ",".join(f"{gpu}.0" for gpu in gpus)
    return ["-i", named] if named else []


def _short(address: str) -> str:
    """Return a PCI address as nvidia-smi prints it (``00000000:4B:00.0``) or as we do in one form: ``4b:00``."""
    domain, _, rest = address.strip().lower().partition(":")
    return f"{int(domain, 16):x}:{rest.partition('.')[0]}" if domain.isalnum() else address
