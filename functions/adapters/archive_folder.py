"""The archive in a folder of this machine, laid out as in its bucket: what `relight archive pull` leaves.

It must not know what is in an object.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from functions.ports.archive import ArchiveObject
from policies.contract.archive_names import day_prefix, parse_day, parse_key
from policies.contract.errors import DependencyError

_PART = ".part"


class FolderArchive:
    """See `functions/ports/archive.py`."""

    def __init__(self, root: Path) -> None:
        """Look below *root*; it need not be there yet."""
        self._root = root

    def put(self, key: str, body: bytes) -> None:
        """See the port. A file appears whole or not at all."""
        path = self._root / key
        with _asking(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}{_PART}")
            part.write_bytes(body)
            part.replace(path)

    def days(self, family: str) -> Sequence[date]:
        """See the port."""
        with _asking(self._root / family):
            paths = sorted(self._root.glob(f"{family}/*/*/*/"))
        days = (parse_day(f"{path.relative_to(self._root).as_posix()}/") for path in paths)
        return sorted(day for day in days if day is not None)

    def list(self, family: str, day: date) -> Sequence[ArchiveObject]:
        """See the port."""
        folder = self._root / day_prefix(family, day)
        found = []
        with _asking(folder):
            for path in folder.glob("*/*"):
                name = parse_key(path.relative_to(self._root).as_posix())
                if name is not None:
                    found.append(ArchiveObject(name, path.stat().st_size))
        return sorted(found, key=lambda one: one.name)

    def read(self, key: str, start: int, length: int) -> bytes:
        """See the port."""
        path = self._root / key
        with _asking(path):
            try:
                with path.open("rb") as file:
                    if start:  # a pipe has a start too, and nothing else
                        file.seek(start)
                    return file.read(length)
            except FileNotFoundError:
                return b""


@contextmanager
def _asking(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        hint = "See whether the disk is full and the folder may be read and written."
        raise DependencyError(f"{path}: {error.strerror or error}.", hint=hint) from error
