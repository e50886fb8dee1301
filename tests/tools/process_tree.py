"""A /proc of a test's own: processes with the device files that they hold, and GPUs with their minor numbers."""

from collections.abc import Mapping
from pathlib import Path

from tests.tools.beats import process


class ProcessTree:
    """Lies in *path*."""

    def __init__(self, path: Path, gpus: Mapping[str, int]) -> None:
        self.path = path
        path.mkdir(exist_ok=True)
        for gpu, minor in gpus.items():
            folder = path / "driver/nvidia/gpus" / f"{gpu}.0"
            folder.mkdir(parents=True)
            text = f"Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 123\nDevice Minor: \t {minor}\nGPU Excluded:\t No\n"
            (folder / "information").write_text(text)

    def add(self, pid: int, name: str, *files: str) -> None:
        """Let process *pid* have *files* open."""
        process(self.path, pid, name=name, files=("/dev/null", *files))
