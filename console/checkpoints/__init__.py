"""Where `relight checkpoints` reads: a folder on a disk, or a place in S3."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from policies.checkpoints.listing import Entry, Tree
from policies.checkpoints.model import Read
from policies.contract.errors import BadInputError


@dataclass(frozen=True)
class Opened:
    """A place that was listed, and how to read in it."""

    tree: Tree
    read: Callable[[Read], bytes]
    now: datetime


def open_folder(path: str) -> Opened:
    """List the folder; symbolic links are followed to files, never to folders (they may lead in circles)."""
    root = Path(path)
    if not root.is_dir():
        raise BadInputError(f"{path} is no folder.", hint="Name a folder, or s3://bucket/prefix.")
    entries = [entry for each in sorted(root.rglob("*")) if (entry := _entry(root, each)) is not None]
    name = root.resolve().name
    return Opened(Tree.of(entries, name=name, object_store=False), lambda read: _read(root, read), datetime.now(UTC))


def open_bucket(address: str, region: str | None = None) -> Opened:
    """List the place in S3, with the credentials of the environment."""
    from console.aws import session
    from functions.adapters.s3_objects import S3Objects
    from functions.ports.objects import Location

    where, objects = Location.parse(address), S3Objects(session(region).client("s3"))
    tree = Tree.of(objects.list(where), name=where.prefix.rpartition("/")[2])
    return Opened(
        tree,
        lambda read: objects.read(where.bucket, where.key(read.entry.key), read.start, read.length),
        datetime.now(UTC),
    )


def _entry(root: Path, path: Path) -> Entry | None:
    """The file's entry, a marker for a folder, None for what vanished or is neither."""
    key = path.relative_to(root).as_posix()
    try:
        told = path.stat()
    except OSError:
        return None
    modified = datetime.fromtimestamp(told.st_mtime, UTC)
    if path.is_dir():
        return Entry(f"{key}/", 0, modified)
    return Entry(key, told.st_size, modified) if path.is_file() else None


def _read(root: Path, read: Read) -> bytes:
    try:
        with (root / read.entry.key).open("rb") as file:
            file.seek(read.start)
            return file.read(read.length)
    except FileNotFoundError:
        return b""
