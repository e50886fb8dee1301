"""Which job an event of this node concerns: its id, size, rank, step and pod. The one place where that is decided.

An event that names a process has that process's rank (or its parent's: a worker that loads data has none); one that
names a GPU has the rank of the one process that holds it, where all hold all of the one whose local rank is the GPU's
place among the node's; one that names a cgroup has that of the process in it. What concerns the node has the job and
the newest step. The job file wins over beats, and those over environments and cgroups; where several jobs train here
and no file says which counts, it is the one with the most processes, then the one that beat last.
Asked for each event, in any thread: it takes what was seen last, waits for nobody and never raises. It must not know
what an event means.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from agent.coalesce import Seen
from agent.job.table import ProcessTable
from agent.job.trainer import Trainer
from agent.job_file import JobSource
from agent.proc import read_stat
from agent.processes import job_of_process, rank_of_process
from policies.contract.events import Component, JobRef
from policies.contract.vocabulary import ComponentType

_FOREFATHERS = 6
_SHORTEST_NAME = 12  # of a container or pod: a shorter one is in too many paths


class Whereabouts:
    """Finds the job of what was seen; `pod` finds its pod."""

    def __init__(self, job_file: JobSource, table: ProcessTable, proc: Path) -> None:
        """Believe *job_file* first, then *table*; *proc* is asked about processes that the table does not know."""
        self._job_file, self._table, self._proc = job_file, table, proc

    def __call__(self, seen: Seen) -> JobRef | None:
        """Return the job that was hit."""
        one = self._trainer(seen)
        told = self._job_file()
        if told is None and one is None and (pid := _pid(seen)) is not None and (found := self._unknown(pid)):
            return found
        base = told or (one.job if one else None) or self._main_job()
        if base is None:
            return None
        return base.model_copy(update=self._nearer(base, one, seen))

    def node_job(self) -> JobRef | None:
        """Return the job that runs here, with its newest step."""
        told = self._job_file() or self._main_job()
        if told is None:
            return None
        return told.model_copy(update={"step": self._newest_step(told), "world_size": self._world_size(told)})

    def pod(self, seen: Seen) -> str:
        """Return the name of the pod that was hit; empty where nobody knows it or there are several."""
        one = self._trainer(seen)
        if one is not None:
            return one.pod
        if _pid(seen) is not None:
            return ""
        pods = {trainer.pod for trainer in self._training()}
        return pods.pop() if len(pods) == 1 else ""

    def trainer(self, seen: Seen) -> Trainer | None:
        """Return the process that was hit, where what was seen tells."""
        return self._trainer(seen)

    def _nearer(self, base: JobRef, one: Trainer | None, seen: Seen) -> dict[str, int | str | None]:
        if one is not None:
            rank, step = one.rank, one.step
        elif (pid := _pid(seen)) is not None:
            rank, step = rank_of_process(pid, self._proc), None
        else:
            rank, step = None, self._newest_step(base)
        checkpoint = one.job.checkpoint if one and one.job else None
        return {
            "rank": base.rank if rank is None else rank,
            "step": base.step if step is None else step,
            "world_size": base.world_size or (one.world_size if one else None) or self._world_size(base),
            "checkpoint": base.checkpoint or checkpoint,
        }

    def _unknown(self, pid: int) -> JobRef | None:
        return job_of_process(pid, self._proc)

    def _trainer(self, seen: Seen) -> Trainer | None:
        pid, component = _pid(seen), seen.sighting.component
        if pid is not None:
            return self._of_pid(pid)
        if component is not None and component.type is ComponentType.GPU:
            return self._of_gpu(component)
        for name in ("container", "pod_uid"):
            told = seen.sighting.attributes.get(name)
            if isinstance(told, str) and len(told) >= _SHORTEST_NAME:
                return self._in_cgroup(told)
        return None

    def _of_pid(self, pid: int) -> Trainer | None:
        trainers = self._table.lately()
        for _ in range(_FOREFATHERS):
            if pid in trainers or pid <= 1:
                break
            stat = read_stat(self._proc, pid)
            pid = stat.parent if stat else 0
        return trainers.get(pid)

    def _of_gpu(self, component: Component) -> Trainer | None:
        training, gpus = self._training(), self._table.gpus
        place = next((at for at, gpu in enumerate(gpus) if component.pci == gpu.pci), None)
        if place is None and component.uuid:
            place = next((at for at, gpu in enumerate(gpus) if component.uuid == gpu.uuid), None)
        if place is None:
            return None
        holding = [one for one in training if gpus[place].minor in one.gpus]
        if len(holding) > 1:
            alone = [one for one in holding if len(one.gpus) == 1]
            holding = alone or [one for one in holding if one.local_rank == place]
        return holding[0] if len(holding) == 1 else None

    def _in_cgroup(self, name: str) -> Trainer | None:
        names = {name, name.replace("-", "_")}
        found = [one for one in self._training() if any(part in one.tells.cgroup for part in names)]
        return found[0] if len(found) == 1 else None

    def _training(self) -> Sequence[Trainer]:
        """Return who trains here; only where nobody does, who did lately."""
        trainers = [one for one in self._table.lately().values() if one.is_training]
        return [one for one in trainers if one.gone_at is None] or trainers

    def _main_job(self) -> JobRef | None:
        trainers = [one for one in self._training() if one.job_id]
        if not trainers:
            return None
        counts, beaten = Counter(one.job_id for one in trainers), dict[str, int]()
        for one in trainers:
            beaten[one.job_id] = max(beaten.get(one.job_id, 0), one.beats.beat.at if one.beats else 0)
        first = max(counts, key=lambda job: (counts[job], beaten[job], job))
        mine = [one for one in trainers if one.job_id == first]
        told = _first_job(mine)
        return told.model_copy(update={"rank": mine[0].rank if len(mine) == 1 else None}) if told else None

    def _newest_step(self, job: JobRef) -> int | None:
        """Return the newest step among *job*'s processes."""
        steps = [one.step for one in self._processes_of(job) if one.step is not None]
        return max(steps, default=job.step)

    def _world_size(self, job: JobRef) -> int | None:
        """Return how many ranks *job* has, as it says itself or its processes do."""
        sizes = (one.world_size for one in self._processes_of(job))
        return job.world_size or max((size for size in sizes if size), default=None)

    def _processes_of(self, job: JobRef) -> Sequence[Trainer]:
        """Return *job*'s processes; those that do not say whose they are belong to it, and all where there are none."""
        training = self._training()
        return [one for one in training if one.job_id in ("", job.id)] or training


def _first_job(trainers: Iterable[Trainer]) -> JobRef | None:
    """Return the fullest of what the processes of one job tell of it."""
    jobs = [one.job for one in trainers if one.job]
    return max(jobs, key=_fullness, default=None)


def _fullness(job: JobRef) -> tuple[bool, ...]:
    return job.checkpoint is not None, job.orchestrator is not None, job.world_size is not None


def _pid(seen: Seen) -> int | None:
    pid = seen.sighting.attributes.get("pid")
    return pid if isinstance(pid, int) and not isinstance(pid, bool) else None
