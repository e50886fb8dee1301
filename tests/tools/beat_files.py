"""Read and ask a beat file by the words of training/FORMAT.md, with nothing of the code that writes it."""

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Seen:
    """What an agent would see."""

    beats: int
    at_ns: int
    step: int
    phase: int
    fulfilled: int
    saved_step: int
    request: int
    header: dict[str, Any]


def look(path: Path) -> Seen:
    """Read the file at *path*."""
    page = path.read_bytes()
    assert len(page) == 4096
    assert page[:8] == b"RLBEAT01"
    (length,) = struct.unpack_from("<I", page, 8)
    beats, at_ns, step, phase = struct.unpack_from("<QQqI", page, 16)
    fulfilled, saved_step = struct.unpack_from("<Qq", page, 48)
    (request,) = struct.unpack_from("<Q", page, 256)
    header = json.loads(page[512 : 512 + length])
    return Seen(beats, at_ns, step, phase, fulfilled, saved_step, request, header)


def ask(path: Path, token: int) -> None:
    """Ask for a save, as the agent does."""
    with path.open("r+b") as file:
        file.seek(256)
        file.write(struct.pack("<Q", token))


def files_in(folder: Path) -> list[Path]:
    """Return the beat files in *folder*."""
    return sorted(folder.glob("*.beat"))


def only_file(folder: Path) -> Path:
    """Return the one beat file in *folder*."""
    (found,) = files_in(folder)
    return found
