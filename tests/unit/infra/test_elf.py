"""Which processor a shared object is built for, by its header."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from infra.elf import AARCH64, MAGIC, machine, strangers

X86_64 = 62
ROOT = Path(__file__).parents[3]


def header(number: int, order: str = "<") -> bytes:
    data = b"\x01" if order == "<" else b"\x02"
    return MAGIC + b"\x02" + data + bytes(12) + struct.pack(f"{order}H", number) + bytes(40)


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_machine_is_read_in_the_files_own_byte_order(order: str) -> None:
    assert machine(header(AARCH64, order)) == AARCH64


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"#!/bin/sh\nexit 0\n..............."])
def test_what_is_no_elf_file_has_no_machine(data: bytes) -> None:
    assert machine(data) is None


def test_this_python_is_built_for_this_machine() -> None:
    assert machine(Path(sys.executable).resolve().read_bytes()[:64]) in {X86_64, AARCH64}


def layer(tmp_path: Path, **files: int) -> Path:
    for name, number in files.items():
        path = tmp_path / "python" / f"{name}.cpython-314-aarch64-linux-gnu.so"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(header(number))
    return tmp_path


def test_a_wrong_file_is_named_whatever_its_name_says(tmp_path: Path) -> None:
    [line] = strangers(layer(tmp_path, good=AARCH64, bad=X86_64))
    assert line == "python/bad.cpython-314-aarch64-linux-gnu.so: x86-64"


@pytest.mark.parametrize(("files", "code"), [({"good": AARCH64}, 0), ({"bad": X86_64}, 1), ({}, 1)])
def test_make_layer_fails_on_a_wrong_or_empty_layer(tmp_path: Path, files: dict[str, int], code: int) -> None:
    folder = layer(tmp_path, **files)
    run = subprocess.run([sys.executable, "-m", "infra.elf", folder], cwd=ROOT, capture_output=True, check=False)
    assert run.returncode == code
