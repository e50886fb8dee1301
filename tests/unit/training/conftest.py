"""Each test starts as a process of its own would: no rank, no file, nothing said yet."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from relight_training import beats, resume

TOLD_BY_LAUNCHERS = (
    *("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "HOSTNAME", "POD_NAME", "POD_NAMESPACE", "TRAINING_JOB_NAME"),
    *("KUBERNETES_SERVICE_HOST", "SLURM_JOB_ID", "SLURM_PROCID", "PMI_RANK", "OMPI_COMM_WORLD_RANK"),
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of beats, which is not there yet."""
    for name in [name for name in os.environ if name.startswith("RELIGHT_")] + list(TOLD_BY_LAUNCHERS):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "beats"
    monkeypatch.setenv("RELIGHT_BEATS", str(folder))
    monkeypatch.setattr(beats, "_process", beats._Process())
    monkeypatch.setattr(resume, "_run", resume._Run())
    yield folder
    beats.finish()
