"""One process that trains here, from its beat, its environment and what it holds: the nearest evidence first.

Decides which processes train, and what of each is believed. It must not know files or faults.
"""

from dataclasses import dataclass

from agent.job.beat import Phase
from agent.job.matching import Matched
from agent.proc import ProcessStat
from agent.processes import ProcessTells
from policies.contract.events import JobRef

# They hold GPUs and train nothing: NVIDIA's daemons and tools, exporters of figures, desktops (comm: 15 characters).
_SERVANTS = (
    *("nvidia-persiste", "nv-hostengine", "dcgm-exporter", "dcgmi", "nvidia-smi", "nvidia-device-", "nv-fabricmanage"),
    *("nvidia-imex", "nvidia-cuda-mps", "gpud", "Xorg", "Xwayland", "gnome-shell", "node_exporter", "relight"),
)


@dataclass(frozen=True, slots=True)
class Trainer:
    """One process. ``gpus`` are minor numbers of device files; ``gone_at``: since when it is no more (ticks)."""

    process: ProcessStat
    tells: ProcessTells
    gpus: frozenset[int] = frozenset()
    beats: Matched | None = None
    said_goodbye: bool = False  # its beat said that it ended, or it took its file away
    gone_at: float | None = None

    @property
    def pid(self) -> int:
        """Its pid on this node."""
        return self.process.pid

    @property
    def is_training(self) -> bool:
        """Whether anything says that it belongs to a run: it beats, or has a rank or a job and holds a GPU."""
        return self.beats is not None or (
            self.is_holding and (self.tells.rank is not None or self.tells.job is not None)
        )

    @property
    def is_holding(self) -> bool:
        """Whether it holds a GPU, and is no servant of the node."""
        return bool(self.gpus) and not self.process.name.startswith(_SERVANTS)

    @property
    def rank(self) -> int | None:
        """Its place in the whole run."""
        told = self.beats.beat.rank if self.beats else None
        return told if told is not None else self.tells.rank

    @property
    def local_rank(self) -> int | None:
        """Its place on this node."""
        told = self.beats.beat.local_rank if self.beats else None
        return told if told is not None else self.tells.local_rank

    @property
    def world_size(self) -> int | None:
        """How many ranks its run has; a launcher's environment, which counts nodes or pods, is not believed."""
        told = self.beats.beat.world_size if self.beats else None
        return told or (self.tells.world_size if self.is_holding else None)

    @property
    def step(self) -> int | None:
        """The step that it last told."""
        return self.beats.beat.step if self.beats else None

    @property
    def pod(self) -> str:
        """Its pod's name, empty where nothing tells."""
        return (self.beats.beat.pod if self.beats else "") or self.tells.pod

    @property
    def job_id(self) -> str:
        """Its job's id, empty where nothing tells."""
        return (self.beats.beat.job if self.beats else "") or (self.tells.job.id if self.tells.job else "")

    @property
    def job(self) -> JobRef | None:
        """Its job with rank and step: as its beat says, else as its environment and cgroup do."""
        beat = self.beats.beat if self.beats else None
        if beat and beat.job:
            told = JobRef(id=beat.job, orchestrator=beat.orchestrator, checkpoint=beat.checkpoint)
        elif self.tells.job:
            told = self.tells.job.model_copy(update={"checkpoint": beat.checkpoint if beat else None})
        else:
            return None
        return told.model_copy(update={"rank": self.rank, "world_size": self.world_size, "step": self.step})

    @property
    def has_ended(self) -> bool:
        """Whether it says that it trains no more."""
        return self.said_goodbye or (self.beats is not None and self.beats.beat.phase is Phase.ENDED)
