"""The folder of the evidence: one folder a collection, bounded, the oldest gone first.

    <root>/<instance id>/<boot id>/<id>/<part>        mode 0600; a name that begins with a dot is not whole yet
                                        manifest.json  written last
                                        .uploaded      all of it is in S3

Decides names and what makes room. It must not know what is collected, nor S3.
"""

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent.evidence.request import MANIFEST

_DONE = ".uploaded"


class EvidenceStore:
    """Safe for threads, one process. Its methods raise OSError where the disk refuses."""

    def __init__(self, root: Path, instance_id: str, boot_id: str, max_bytes: int) -> None:
        """Keep below *root*; what other instances left there only takes room, until it has to go."""
        self._root, self._instance, self._boot = root, instance_id, boot_id
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._busy: set[Path] = set()

    def folder(self, name: str) -> Path:
        """Return where the collection *name* of this boot is or will be."""
        return self._root / self._instance / self._boot / name

    def begin(self, name: str, reserve: int) -> Path:
        """Make the folder of a collection, and room for *reserve* bytes."""
        folder = self.folder(name)
        with self._lock:
            self._busy.add(folder)
            for parent in (self._root, self._root / self._instance, folder.parent, folder):
                parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._make_room(reserve)
        return folder

    def finish(self, folder: Path, manifest: dict[str, Any]) -> None:
        """Write the manifest; whatever is still under a hidden name is dropped."""
        for part in folder.glob(".*"):
            part.unlink(missing_ok=True)
        hidden = folder / f".{MANIFEST}"
        hidden.touch(mode=0o600)
        hidden.write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        hidden.rename(folder / MANIFEST)
        with self._lock:
            self._busy.discard(folder)

    def manifest(self, folder: Path) -> dict[str, Any] | None:
        """Return what a collection that is finished told; None when it is not."""
        try:
            told: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return told

    def pending(self) -> Iterator[Path]:
        """Yield the folders of this instance that are not wholly uploaded, the newest first."""
        found = [folder for folder in self._folders(self._root / self._instance) if not (folder / _DONE).exists()]
        yield from sorted(found, key=_age, reverse=True)

    @staticmethod
    def parts(folder: Path) -> list[Path]:
        """Return the whole files of a collection, the oldest first and the manifest last."""
        found = [path for path in folder.iterdir() if not path.name.startswith(".")]
        return sorted(found, key=lambda path: (path.name == MANIFEST, path.stat().st_mtime_ns, path.name))

    @staticmethod
    def uploaded(folder: Path) -> None:
        """Note that all of a collection is in S3."""
        (folder / _DONE).touch(mode=0o600)

    @staticmethod
    def is_uploaded(folder: Path) -> bool:
        """Tell whether `uploaded` was said."""
        return (folder / _DONE).exists()

    def size(self) -> int:
        """Return how many bytes all collections take."""
        return sum(_size(folder) for instance in self._instances() for folder in self._folders(instance))

    def _make_room(self, reserve: int) -> None:
        folders = [folder for instance in self._instances() for folder in self._folders(instance)]
        sizes = {folder: _size(folder) for folder in folders}
        taken = sum(sizes.values()) + reserve
        # What is uploaded goes before what is not.
        for folder in sorted(folders, key=lambda one: (not self.is_uploaded(one), _age(one))):
            if taken <= self._max_bytes:
                return
            if folder not in self._busy:
                shutil.rmtree(folder, ignore_errors=True)
                taken -= sizes[folder]

    def _instances(self) -> list[Path]:
        return list(self._root.iterdir()) if self._root.is_dir() else []

    @staticmethod
    def _folders(instance: Path) -> list[Path]:
        return [folder for folder in instance.glob("*/*") if folder.is_dir()]


def _age(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _size(folder: Path) -> int:
    total = 0
    for path in folder.iterdir():
        try:
            total += path.lstat().st_size
        except OSError:
            continue
    return total
