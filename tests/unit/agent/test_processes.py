from pathlib import Path

import pytest

from agent.processes import job_of_process, rank_of_process, writers_of
from policies.contract.events import JobRef
from policies.contract.vocabulary import Orchestrator


def process(proc: Path, pid: int, environ: str = "", cgroup: str = "") -> None:
    folder = proc / str(pid)
    (folder / "fd").mkdir(parents=True)
    (folder / "environ").write_text(environ.replace(" ", "\0"))
    (folder / "cgroup").write_text(cgroup)


@pytest.mark.parametrize(
    ("environ", "cgroup", "job"),
    [
        ("RANK=3 TRAINING_JOB_NAME=llama", "", JobRef(id="llama", orchestrator=Orchestrator.SAGEMAKER, rank=3)),
        ("SLURM_JOB_ID=12 SLURM_PROCID=5", "", JobRef(id="12", orchestrator=Orchestrator.SLURM, rank=5)),
        (
            "KUBERNETES_SERVICE_HOST=10.0.0.1 MASTER_ADDR=llama-master-0.ml.svc RANK=9",
            "",
            JobRef(id="ml/llama", orchestrator=Orchestrator.EKS, rank=9),
        ),
        ("KUBERNETES_SERVICE_HOST=10.0.0.1 MASTER_ADDR=llama-master-0 RANK=9", "", None),  # nobody says its namespace
        ("", "0::/system.slice/slurmstepd.scope/job_77/step_0", JobRef(id="77", orchestrator=Orchestrator.SLURM)),
        ("PATH=/bin", "0::/user.slice", None),
    ],
)
def test_a_process_tells_its_job(tmp_path: Path, environ: str, cgroup: str, job: JobRef | None) -> None:
    process(tmp_path, 7, environ, cgroup)
    assert job_of_process(7, tmp_path) == job


def test_a_process_that_is_gone_or_forbidden_is_not_known(tmp_path: Path) -> None:
    assert job_of_process(7, tmp_path) is None
    assert rank_of_process(7, tmp_path) is None
    assert list(writers_of(1, 1, tmp_path)) == []


def test_the_writer_of_a_file_is_found(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    proc = tmp_path / "proc"
    for pid in (5, 6):
        process(proc, pid)
    (proc / "6" / "fd" / "1").symlink_to(log)
    status = log.stat()
    assert list(writers_of(status.st_ino, status.st_dev, proc)) == [6]
