"""A bucket of checkpoints in a dictionary: key -> bytes, and when each was written."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from policies.checkpoints.choose import choose, run
from policies.checkpoints.listing import Entry, Tree
from policies.checkpoints.model import Choice, Read

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def under(folder: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return *files* with *folder* before each name."""
    return {f"{folder}/{name}": body for name, body in files.items()}


def tree_of(files: Mapping[str, bytes], ages: Mapping[str, float] | None = None, *, object_store: bool = True) -> Tree:
    """Return the tree of *files*; *ages* gives seconds before NOW by the longest fitting prefix, an hour otherwise."""
    return Tree.of((_entry(key, body, ages or {}) for key, body in files.items()), object_store=object_store)


def _entry(key: str, body: bytes, ages: Mapping[str, float]) -> Entry:
    fitting = [prefix for prefix in ages if key.startswith(prefix)]
    age = ages[max(fitting, key=len)] if fitting else 3600.0
    return Entry(key, len(body), NOW - timedelta(seconds=age))


class Reader:
    """Serves reads from the dictionary and remembers them."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.reads: list[Read] = []

    def __call__(self, read: Read) -> bytes:
        self.reads.append(read)
        return self.files[read.entry.key][read.start : read.start + read.length]


def chosen(files: Mapping[str, bytes], ages: Mapping[str, float] | None = None, **wishes: object) -> Choice:
    """Return the choice over *files*."""
    return run(choose(tree_of(files, ages), now=NOW, **wishes), Reader(files))  # type: ignore[arg-type]


def reasons(choice: Choice) -> dict[int, str]:
    """Return step -> why it was refused."""
    return {refused.step: refused.reason for refused in choice.refused}
