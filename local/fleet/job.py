"""The PyTorchJob of the fleet, and the thread that lets it train."""

import json

from local.fleet.beat import Beat
from local.fleet.gang import Gang
from local.fleet.infrastructure import Site
from local.fleet.machines import MachineRoom
from local.fleet.nodes import GPUS_PER_NODE
from local.fleet.ranks import Ranks
from local.fleet.training import Training
from local.kubernetes.controllers.scheduler import GPU
from local.kubernetes.objects import Obj

CHECKPOINTS = "relight.dev/checkpoints"


def pytorch_job(site: Site) -> Obj:
    """One master and as many workers as fill the fleet, eight GPUs each."""
    container = {
        "name": "pytorch",
        "image": "registry.example.com/llama-pretrain:1.4",
        "resources": {"limits": {GPU: str(GPUS_PER_NODE)}},
    }
    template = {"metadata": {"annotations": {}}, "spec": {"containers": [container]}}
    replica = {"restartPolicy": "OnFailure", "template": template}
    return {
        "metadata": {"name": site.job, "annotations": {CHECKPOINTS: site.checkpoints}},
        "spec": {
            "runPolicy": {"suspend": False, "backoffLimit": 3, "cleanPodPolicy": "Running"},
            "pytorchReplicaSpecs": {
                "Master": {"replicas": 1, **replica},
                "Worker": {"replicas": site.size - 1, **replica},
            },
        },
    }


_TRAIN, _SAVE = 3, 4  # phases of a beat (training/relight_training)


def beat_header(site: Site) -> dict[str, object]:
    """What every rank says of the job in its beat file."""
    return {
        "job": f"{site.namespace}/{site.job}",
        "orchestrator": "eks",
        "checkpoint": site.checkpoints,
        "namespace": site.namespace,
        "version": "simulated",
    }


class JobDriver:
    """Ticks the training, lets its ranks beat, and keeps each node's job file as the job's own launcher would."""

    def __init__(
        self, training: Training, gang: Gang, ranks: Ranks, room: MachineRoom, site: Site, tick_seconds: float
    ) -> None:
        self._training = training
        self._gang = gang
        self._ranks = ranks
        self._room = room
        self._site = site
        self._told: dict[str, str] = {}
        self._beat = Beat("training", self._step, tick_seconds)

    def start(self) -> None:
        self._beat.start()

    def stop(self) -> None:
        self._beat.stop()
        self._ranks.close()

    def _step(self) -> None:
        self._ranks.follow(self._gang.members())
        self._training.tick()
        if self._training.is_running and not self._training.is_stalled:
            saved = self._training.record.saved
            newest = max(saved, key=lambda step: saved[step], default=-1)
            self._ranks.beat(self._training.step, _SAVE if self._training.saving else _TRAIN, newest)
        self._tell_nodes()

    def _tell_nodes(self) -> None:
        """Write who runs what, at each checkpoint's worth of steps; a node without a rank has no file."""
        wanted = {member.node: self._identity(member.rank) for member in self._gang.members()}
        for machine in self._room:
            text = wanted.get(machine.name)
            if self._told.get(machine.name) == text or not machine.is_on:
                continue
            if text is None:
                machine.job_file.unlink(missing_ok=True)
                del self._told[machine.name]
                continue
            draft = machine.job_file.with_suffix(".new")
            draft.write_text(text)
            draft.replace(machine.job_file)
            self._told[machine.name] = text

    def _identity(self, node_rank: int) -> str:
        return json.dumps(
            {
                "id": f"{self._site.namespace}/{self._site.job}",
                "orchestrator": "eks",
                "rank": node_rank * GPUS_PER_NODE,
                "step": self._training.step // 10 * 10,
                "epoch": 0,
                "checkpoint": self._site.checkpoints,
            }
        )
