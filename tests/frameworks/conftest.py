"""These tests need PyTorch, Lightning and transformers: `make test-frameworks` has them, `make test` has not.

Its environment has nothing else of ours, so the conftest of all tests is not read here.
"""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from relight_training import beats, resume

if find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of beats, for a process that has said nothing yet."""
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "RELIGHT_CHECKPOINTS", "RELIGHT_JOB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RELIGHT_BEATS", str(tmp_path / "beats"))
    monkeypatch.setattr(beats, "_process", beats._Process())
    monkeypatch.setattr(resume, "_run", resume._Run())
    yield tmp_path / "beats"
    beats.finish()
