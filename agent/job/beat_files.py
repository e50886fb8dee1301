"""The folder that training processes beat in.

Containers of other users may write there, so what lies in it is read with care: regular files only, no link followed,
a pipe never waited for, so many and no more. Whoever is known to train is read first: nobody hides it by laying many
files beside its own. It must not know what a beat means.
"""

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agent.job.beat import SIZE, Beat, parse_beat

SUFFIX = ".beat"
MOST_FILES = 256  # the newest: far more than a node has GPUs; files of processes that are gone lie here too
_MOST_LOOKED_AT = 2048


@dataclass(frozen=True, slots=True)
class BeatFile:
    """One process's file, by its name, and the user id that owns it."""

    name: str
    owner: int
    beat: Beat


def read_beats(folder: Path, first: Collection[str] = ()) -> list[BeatFile]:
    """Return what the processes of this node say of themselves; nothing where the folder is missing or barred.

    The files called *first* are read before any other.
    """
    chosen = dict.fromkeys([*first, *(name for _, name in sorted(_names(folder), reverse=True))])
    return [found for name in sorted(islice(chosen, MOST_FILES)) if (found := _read(folder, name))]


def _names(folder: Path) -> Iterator[tuple[int, str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _MOST_LOOKED_AT):
                if entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False).st_mtime_ns, entry.name
    except OSError:
        return


def _read(folder: Path, name: str) -> BeatFile | None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(folder / name, flags)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        beat = parse_beat(os.pread(descriptor, SIZE, 0)) if stat.S_ISREG(status.st_mode) else None
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return BeatFile(name, status.st_uid, beat) if beat else None
