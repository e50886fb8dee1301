"""The beat in a notebook's shell, and in workers of a DataLoader however they are started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from relight_training import beats
from relight_training.layout import PHASES
from tests.tools.beat_files import files_in, look, only_file

ROOT = Path(__file__).parents[2]
NAMES = {number: name for name, number in PHASES.items()}


def phase(folder: Path) -> str:
    return NAMES[look(only_file(folder)).phase]


def test_a_notebook_trains_while_a_cell_runs_and_rests_after_it(folder: Path) -> None:
    shell = InteractiveShell.instance()
    try:
        shell.run_cell("from relight_training import beat, beats\nfrom tests.tools.beat_files import look")
        shell.run_cell("beat(step=1)\nseen = look(__import__('pathlib').Path(beats.path())).phase")
        assert NAMES[shell.user_ns["seen"]] == "train"
        assert phase(folder) == "ended"
        shell.run_cell("beat(step=2)\nduring = look(__import__('pathlib').Path(beats.path())).phase\n1 / 0")
        assert NAMES[shell.user_ns["during"]] == "train"
        assert phase(folder) == "ended"
        beats._goodbye()  # as at the kernel's exit: the error of a cell is not the kernel's death
        assert files_in(folder) == []
    finally:
        InteractiveShell.clear_instance()


LOADER = """
import os, sys
import torch
from torch.utils.data import DataLoader, Dataset
from relight_training import beat, beats
beat(phase="starting")  # spawn runs this line in each worker

class Rows(Dataset):
    def __len__(self): return 8
    def __getitem__(self, row):
        beat(step=row)
        return torch.tensor(0 if beats.path() is None else 1)

if __name__ == "__main__":
    loader = DataLoader(Rows(), num_workers=2, multiprocessing_context=sys.argv[1], persistent_workers=True)
    print(int(sum(batch.sum() for batch in loader)), len(os.listdir(os.environ["RELIGHT_BEATS"])))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_a_loader_have_no_file_however_they_are_started(folder: Path, tmp_path: Path, method: str) -> None:
    script = tmp_path / "trains.py"
    script.write_text(LOADER)
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "training")}
    run = subprocess.run(
        [sys.executable, str(script), method], env=environ, capture_output=True, text=True, timeout=240, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.split() == ["0", "1"]
    assert files_in(folder) == []


SPAWN = """
import os
import torch
import torch.multiprocessing as mp
import torch.distributed as dist
from relight_training import beat, beats, start
from tests.tools.beat_files import files_in, look
from pathlib import Path

def rank(number, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=number, world_size=2)
    start(rank=number, world_size=2)
    beat(step=1)
    dist.barrier()
    if number == 0:
        print(sorted(look(path).header["rank"] for path in files_in(Path(os.environ["RELIGHT_BEATS"]))), flush=True)
    dist.barrier()
    dist.destroy_process_group()

if __name__ == "__main__":
    import socket
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    mp.spawn(rank, (port,), nprocs=2)
"""


def test_ranks_that_torch_spawns_have_a_file_each(folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "trains.py"
    script.write_text(SPAWN)
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'training'}", "GLOO_SOCKET_IFNAME": "lo"}
    run = subprocess.run(
        [sys.executable, str(script)], env=environ, capture_output=True, text=True, timeout=240, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout == "[0, 1]\n"
    assert files_in(folder) == []
