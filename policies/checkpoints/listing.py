"""What a listing of checkpoints looks like, and how its keys fall into folders.

Decides nothing about completeness. It must not know whether the keys came from S3 or from a disk.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

# SageMaker's uploader names a file so while it copies it: it is not there yet, and it may vanish while being looked at.
UPLOADING = ".sagemaker-uploading"


@dataclass(frozen=True)
class Entry:
    """One object or file. ``key`` is relative to the listing's root, with ``/``; ``size`` in bytes."""

    key: str
    size: int
    modified: datetime

    @property
    def folder(self) -> str:
        """The part before the last slash; empty at the root."""
        return self.key.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The part after the last slash."""
        return self.key.rpartition("/")[2]


@dataclass(frozen=True)
class Tree:
    """A listing by folder. A folder is known by its path relative to the root, ``""`` is the root itself.

    ``name`` is the root's own name, for a listing that begins inside one checkpoint. ``object_store``: a rename is no
    commit there.
    """

    files: Mapping[str, Mapping[str, Entry]]
    """Folder -> name -> entry, of the files directly in it."""
    children: Mapping[str, tuple[str, ...]]
    """Folder -> the folders directly in it, sorted."""
    name: str = ""
    object_store: bool = True
    _below: dict[str, Mapping[str, Entry]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, entries: Iterable[Entry], *, name: str = "", object_store: bool = True) -> "Tree":
        """Sort *entries* into folders. An object whose key ends with a slash is the marker of an empty folder."""
        files: dict[str, dict[str, Entry]] = defaultdict(dict)
        for entry in entries:
            folder = files[entry.folder]
            if entry.name:
                folder[entry.name] = entry
        children: dict[str, set[str]] = defaultdict(set)
        for folder_path in list(files):
            for parent, child in _ancestry(folder_path):
                children[parent].add(child)
        below = {parent: tuple(sorted(inside)) for parent, inside in children.items()}
        return cls(files, below, name, object_store)

    def folders(self) -> Iterator[str]:
        """The root and every folder below it, parents first."""
        pending = [""]
        while pending:
            folder = pending.pop()
            yield folder
            pending.extend(reversed(self.children.get(folder, ())))

    def name_of(self, folder: str) -> str:
        """The folder's own name."""
        return basename(folder) if folder else self.name

    def direct(self, folder: str) -> Mapping[str, Entry]:
        """Name -> entry of the files directly in *folder*."""
        return self.files.get(folder, {})

    def below(self, folder: str) -> Mapping[str, Entry]:
        """Path relative to *folder* -> entry, of all files in it and below it."""
        if folder not in self._below:
            found = dict(self.direct(folder))
            for child in self.children.get(folder, ()):
                inner = basename(child)
                found.update({f"{inner}/{path}": entry for path, entry in self.below(child).items()})
            self._below[folder] = found
        return self._below[folder]


def basename(path: str) -> str:
    """The last part of *path*."""
    return path.rpartition("/")[2]


def parent_of(path: str) -> str:
    """*path* without its last part; ``""`` for the root's own."""
    return path.rpartition("/")[0]


def join(folder: str, name: str) -> str:
    """*name* inside *folder*; the root adds no slash."""
    return f"{folder}/{name}" if folder else name


def _ancestry(folder: str) -> Iterator[tuple[str, str]]:
    while folder:
        parent = parent_of(folder)
        yield parent, folder
        folder = parent
