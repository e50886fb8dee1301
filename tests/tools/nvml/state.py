"""The NVML of tests: built from nvml.c, and the file that says what it answers."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.prober.client import Prober
from agent.prober.topics import TOPICS

SOURCE = Path(__file__).with_name("nvml.c")
ROOT = Path(__file__).resolve().parents[3]
NAME = "libnvidia-ml.so.1"
VERSION = "570.148.08"
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc) to build NVML's double with")

XID, ALL_EVENTS = 0x8, 0xFE08  # nvmlEventType*
# What an H100 of a p5.48xlarge says when all is well.
HEALTHY = {
    "name": "NVIDIA H100 80GB HBM3",
    "reasons": "0x0",
    **{f"field.{field}": "0" for field in (3, 4, 5, 6, 12, 94, 143, 144, 145, 230)},
    "field.82": "48",
    "field.194": "-2",
    "sram_exceeded": "0",
    "temperature": "41",
    "margin": "46",
    "threshold.1": "89",
    "threshold.2": "95",
    "width": "16",
    "full_width": "16",
    "generation": "5",
    "full_generation": "5",
    "busy": "97",
    "mig": "0",
    "fabric": "3",
    "fabric_health": "0xAA",
    "events": "0x8",
    **{f"link.{link}": "1" for link in range(18)},
    **{f"field.{field}.{link}": "0" for field in (161, 162, 163) for link in range(18)},
}
BUSES = (0x53, 0x64, 0x75, 0x86, 0x97, 0xA8, 0xB9, 0xCA)


def pci_of(index: int) -> str:
    return f"0000:{BUSES[index]:02x}:00"


def uuid_of(index: int) -> str:
    return f"GPU-{index:08x}-1111-2222-3333-444444444444"


class NvmlState:
    """What the library at *path* answers; every change is written at once."""

    def __init__(self, path: Path, gpus: int = 8) -> None:
        self.path = path
        self._library: dict[str, str] = {"count": str(gpus), "module": VERSION}
        self._all = dict(HEALTHY)
        self._one: dict[int, dict[str, str]] = {index: self._who(index) for index in range(gpus)}
        self._events: list[str] = []
        self.write()

    @staticmethod
    def _who(index: int) -> dict[str, str]:
        return {"uuid": uuid_of(index), "serial": f"165{index:07d}", "pci": pci_of(index)}

    def library(self, **values: object) -> None:
        """Set what concerns no GPU: count, module, init, ended, hang; None takes it away."""
        self._change(self._library, values)

    def every(self, **values: object) -> None:
        self._change(self._all, values)

    def gpu(self, index: int, **values: object) -> None:
        self._change(self._one[index], values)

    def field(self, index: int, field: int, value: object, link: int | None = None) -> None:
        name = f"field.{field}" if link is None else f"field.{field}.{link}"
        self._change(self._one[index], {name: value})

    def link(self, index: int, link: int, value: object) -> None:
        self._change(self._one[index], {f"link.{link}": value})

    def event(self, index: int, type_: int, data: int, instances: tuple[int, int] | None = None) -> None:
        gpu_instance, compute_instance = instances or (0xFFFFFFFF, 0xFFFFFFFF)
        number = len(self._events) + 1
        self._events.append(f"{number} {index} {type_} {data} {gpu_instance} {compute_instance}")
        self.write()

    def _change(self, of: dict[str, str], values: dict[str, object]) -> None:
        for name, value in values.items():
            if value is None:
                of.pop(name, None)
            else:
                of[name] = str(value)
        self.write()

    def write(self) -> None:
        lines = [f"{name} {value}" for name, value in self._library.items()]
        lines += [f"gpu.*.{name} {value}" for name, value in self._all.items()]
        lines += [f"gpu.{one}.{name} {value}" for one, values in self._one.items() for name, value in values.items()]
        lines += [f"event {event}" for event in self._events]
        new = self.path.with_suffix(".new")
        new.write_bytes("\n".join([*lines, ""]).encode("utf-8", "surrogateescape"))
        new.replace(self.path)


@functools.cache
def built(version: str = VERSION) -> Path:
    """Return a folder with the library in it; it stays as long as the process."""
    folder = Path(tempfile.mkdtemp(prefix="nvml-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    compile_to(folder, version)
    return folder


def compile_to(folder: Path, version: str) -> None:
    """Build the library of this *version* into *folder*, over whatever is there."""
    new = folder / "new.so"
    flags = ["-shared", "-fPIC", "-O1", f'-DVERSION="{version}"', f"-Wl,-soname,{NAME}", "-pthread"]
    subprocess.run(["cc", *flags, "-o", str(new), str(SOURCE)], check=True, timeout=60)
    new.replace(folder / NAME)


def environ(state: NvmlState, folder: Path) -> dict[str, str]:
    """Return what a process needs to find the library and its state."""
    return {"LD_LIBRARY_PATH": str(folder), "NVML_STATE": str(state.path), "PYTHONPATH": str(ROOT)}


@contextmanager
def prober(state: NvmlState, folder: Path | None = None) -> Iterator[Prober]:
    """Keep a prober that has the topic `gpu` alone, on the library of *state*."""
    made = Prober({"gpu": TOPICS["gpu"]}, environ=os.environ | environ(state, folder or built()))
    try:
        yield made
    finally:
        made.close()
