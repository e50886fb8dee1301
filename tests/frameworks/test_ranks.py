"""Two real ranks under torchrun, one of which is asked to save."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.beat_files import files_in

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("how", "backend"), [("plain", "gloo"), ("plain", ""), ("lightning", ""), ("hf", "")])
def test_ranks_save_at_one_step_though_one_of_them_is_asked(
    how: str, backend: str, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'training'}", "BACKEND": backend}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    run = subprocess.run(
        [*command, str(ROOT / "tests/frameworks/ranks.py"), how, str(out)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    told = [json.loads((out / f"told-{rank}.json").read_text()) for rank in (0, 1)]
    assert [one["rank"] for one in told] == [0, 1]
    assert [one["saved"] for one in told] == [[5], [5]]
    assert [one["fulfilled"] for one in told] == [4711, 4711]
    assert files_in(folder) == []
