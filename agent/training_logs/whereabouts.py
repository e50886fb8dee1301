"""Where a run is, from its rank's log: rank and job from the file's name, step and epoch from its lines.

Decides which numbers are steps. It must not know faults.

Sources: Megatron-LM ("iteration 1200/ 5000 |"), DeepSpeed ("step=1200,"), torchtitan ("step: 10 loss:"), NeMo and
Lightning ("Epoch 3: 24%", "global_step=1200"), Hugging Face ("{'loss': .., 'epoch': 1.2}"); torchrun's log folders
(`attempt_0/3/stderr.log`: local rank 3), Slurm's and srun's file names (`slurm-123_4.out`), the kubelet's
(`/var/log/pods/<namespace>_<pod>_<uid>/<container>/0.log`), the training operator's pod names (`<job>-worker-3`).
"""

import re
from dataclasses import dataclass
from pathlib import Path

from policies.contract.events import JobRef
from policies.contract.vocabulary import Orchestrator

# "steps" without "global" is how many there will be.
_STEP = re.compile(
    r"(?<![a-z_])(?:global[_ ]?steps?|train(?:er)?[_ /]step|step|iter(?:ation)?)[\"']?\s{0,6}[=:\[ ]\s{0,8}"
    r"([0-9]{1,12})(?![0-9.])",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"(?<![a-z_])epoch[\"']?\s{0,4}[=:\[ ]\s{0,4}([0-9]{1,9})", re.IGNORECASE)
_RANK_IN_NAME = re.compile(r"(?:^|[^a-z])(?:global[_-]?)?rank[_.-]?([0-9]{1,6})(?![0-9])", re.IGNORECASE)
_SLURM_FILE = re.compile(r"(?:^|/)slurm-([0-9]{1,10})(?:[_.-]([0-9]{1,6}))?\.(?:out|err|log)$")
_POD_LOG = re.compile(r"/pods/([a-z0-9-]{1,63})_([a-z0-9.-]{1,253})_[0-9a-f-]{8,64}/")
_POD_OF_JOB = re.compile(r"^([a-z0-9][a-z0-9-]{0,240})-(master|worker)-([0-9]{1,6})$")
_LINE_LOOKED_AT = 2048


@dataclass(frozen=True, slots=True)
class NameTells:
    """What a file's name tells. ``job`` has no rank, ``pod`` is empty where it is no pod's."""

    rank: int | None = None
    job: JobRef | None = None
    pod: str = ""


def read_name(path: Path) -> NameTells:
    """Return what *path* tells of the rank that writes it."""
    text = str(path)
    if match := _SLURM_FILE.search(text):
        rank = int(match[2]) if match[2] else None
        return NameTells(rank, JobRef(id=match[1], orchestrator=Orchestrator.SLURM))
    if match := _POD_LOG.search(text):
        return _pod(match[1], match[2])
    ranks = _RANK_IN_NAME.findall(text)
    return NameTells(int(ranks[-1]) if ranks else None)


def _pod(namespace: str, pod: str) -> NameTells:
    match = _POD_OF_JOB.match(pod)
    if match is None:
        return NameTells(pod=pod)
    return NameTells(None, JobRef(id=f"{namespace}/{match[1]}", orchestrator=Orchestrator.EKS), pod)


class Progress:
    """The step and the epoch that a log last named."""

    def __init__(self) -> None:
        """Nothing was named yet."""
        self.step: int | None = None
        self.epoch: int | None = None

    def read(self, line: str) -> None:
        """Take in a line; the last number of a line counts, since progress bars stand in one line."""
        if "tep" not in line and "iter" not in line and "poch" not in line and "STEP" not in line:
            return
        tail = line[-_LINE_LOOKED_AT:]
        if steps := _STEP.findall(tail):
            self.step = int(steps[-1])
        if epochs := _EPOCH.findall(tail):
            self.epoch = int(epochs[-1])
