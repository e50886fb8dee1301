"""What the system tells about a process: its rank and its job, from its environment and its cgroup.

Everything here is evidence that may be gone or forbidden (another user's environment needs root or CAP_SYS_PTRACE; a
cgroup anybody may read): what cannot be read is not known, and nothing raises. It must not know logs.

Sources: torchrun (RANK, WORLD_SIZE), Slurm's srun (SLURM_PROCID, SLURM_NTASKS, SLURM_JOB_ID), Open MPI
(OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE), SageMaker training toolkit (TRAINING_JOB_NAME), Kubeflow training operator
(MASTER_ADDR is `<job>-master-0` or `<job>-worker-0`); Slurm's cgroup plugins (`.../job_123/step_0`).
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agent.kernel_files import read_or_empty
from policies.contract.events import JobRef
from policies.contract.vocabulary import Orchestrator

PROC = Path("/proc")
_READ_BYTES = 64 * 1024
_PROCESSES_LOOKED_AT, _FILES_LOOKED_AT = 4096, 512
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
_LOCAL_RANKS = ("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID")
_WORLD_SIZES = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_LONGEST_RANK, _POD_NAME = 7, 253
_SLURM_CGROUP = re.compile(r"/job_([0-9]{1,10})(?:/|$)", re.MULTILINE)
_KUBEFLOW_MASTER = re.compile(r"^([a-z0-9][a-z0-9-]{0,200})-(?:master|worker)-0(?:\.|$)")
_NAMESPACE_OF_MASTER = re.compile(r"^[^.]+\.([a-z0-9-]{1,63})(?:\.svc|$)")


def job_of_process(pid: int, proc: Path = PROC) -> JobRef | None:
    """Return the job of process *pid* and its rank, as far as the system tells; None when it tells no job."""
    environ = _environ(proc / str(pid) / "environ")
    rank = _first_number(environ, _RANKS)
    found = _from_environ(environ) or _from_cgroup(read_or_empty(proc / str(pid) / "cgroup", _READ_BYTES))
    return found.model_copy(update={"rank": rank}) if found else None


@dataclass(frozen=True, slots=True)
class ProcessTells:
    """What one process's environment and cgroup tell. ``job`` has no rank; None and empty are not told."""

    job: JobRef | None = None
    rank: int | None = None
    local_rank: int | None = None
    world_size: int | None = None
    pod: str = ""
    cgroup: str = ""


def read_process(pid: int, proc: Path = PROC, host_name: str = "") -> ProcessTells:
    """Return what process *pid* tells of itself. On *host_name* a pod of the host's network has the host's name."""
    environ, cgroup = _environ(proc / str(pid) / "environ"), read_or_empty(proc / str(pid) / "cgroup", _READ_BYTES)
    pod = environ.get("POD_NAME") or environ.get("HOSTNAME", "")
    is_pod = "KUBERNETES_SERVICE_HOST" in environ and pod != host_name and len(pod) <= _POD_NAME
    return ProcessTells(
        job=_from_environ(environ) or _from_cgroup(cgroup),
        rank=_first_number(environ, _RANKS),
        local_rank=_first_number(environ, _LOCAL_RANKS),
        world_size=_first_number(environ, _WORLD_SIZES) or None,
        pod=pod if is_pod else "",
        cgroup=_cgroup_path(cgroup),
    )


def rank_of_process(pid: int, proc: Path = PROC) -> int | None:
    """Return the rank of process *pid*, even where nothing tells its job."""
    environ = _environ(proc / str(pid) / "environ")
    return _first_number(environ, _RANKS)


def writers_of(inode: int, device: int, proc: Path = PROC) -> Iterator[int]:
    """Yield the processes that have the file open, as far as this process may see it; bounded, some ten milliseconds.

    Nobody keeps a register of it, so all are looked through: ask when there is a fault, not for each line.
    """
    own = os.getpid()
    pids = (int(one.name) for one in islice(_entries(proc), 4 * _PROCESSES_LOOKED_AT) if one.name.isdigit())
    for pid in islice(pids, _PROCESSES_LOOKED_AT):
        if pid != own and _has_open(proc / str(pid) / "fd", inode, device):
            yield pid


def _has_open(folder: Path, inode: int, device: int) -> bool:
    for entry in islice(_entries(folder), _FILES_LOOKED_AT):
        try:
            status = entry.stat()
        except OSError:
            continue
        if (status.st_ino, status.st_dev) == (inode, device):
            return True
    return False


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return


def _from_environ(environ: Mapping[str, str]) -> JobRef | None:
    if name := environ.get("TRAINING_JOB_NAME"):
        return JobRef(id=name, orchestrator=Orchestrator.SAGEMAKER)
    if number := environ.get("SLURM_JOB_ID"):
        return JobRef(id=number, orchestrator=Orchestrator.SLURM)
    master = environ.get("MASTER_ADDR", "")
    name_match, namespace = _KUBEFLOW_MASTER.match(master), _NAMESPACE_OF_MASTER.match(master)
    if name_match and namespace and "KUBERNETES_SERVICE_HOST" in environ:
        return JobRef(id=f"{namespace[1]}/{name_match[1]}", orchestrator=Orchestrator.EKS)
    return None


def _from_cgroup(text: str) -> JobRef | None:
    match = _SLURM_CGROUP.search(text)
    return JobRef(id=match[1], orchestrator=Orchestrator.SLURM) if match else None


def _first_number(environ: Mapping[str, str], names: Sequence[str]) -> int | None:
    words = (environ.get(name, "") for name in names)
    return next(
        (int(word) for word in words if word.isdecimal() and word.isascii() and len(word) <= _LONGEST_RANK), None
    )


def _cgroup_path(text: str) -> str:
    """Return the path of version 2, else that of version 1's memory."""
    lines = [line.split(":", 2) for line in text.splitlines() if line.count(":") >= 2]  # noqa: PLR2004 - id:controllers:path
    paths = {controllers: path for _, controllers, path in lines}
    unified = paths.get("", "/")
    return (unified if unified != "/" else paths.get("memory", "/")).lstrip("/")


def _environ(path: Path) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in read_or_empty(path, _READ_BYTES).split("\0"))
    return {name: value for name, _, value in pairs if name}
