"""Where rotated files go, and which file comes after one.

Decides by names and inodes alone: logrotate renames `log` to `log.1`, `log.1` to `log.2` (or to `log-20260131` with
`dateext`). Compressed files are given up: whoever was away for so long is told of a gap. It must not read files.
"""

from itertools import islice
from pathlib import Path

_MOST = 32  # rotated files looked at
_COMPRESSED = (".gz", ".xz", ".zst", ".bz2")


def older_files(path: Path) -> list[Path]:
    """Return the rotated files of *path*, the youngest first; they may be gone when they are opened."""
    found: list[tuple[float, Path]] = []
    for one in islice(path.parent.glob(f"{_literal(path.name)}[.-]*"), 4 * _MOST):
        if one.suffix not in _COMPRESSED:
            try:
                found.append((one.stat().st_mtime, one))
            except OSError:
                continue
    return [one for _, one in sorted(found, reverse=True)[:_MOST]]


def next_of(path: Path, inode: int) -> Path | None:
    """Return the file that goes on after the one with *inode*, which was at *path*; None while it still is.

    Usually that is the file now at *path*, once somebody has written to it: until then the one who writes may still
    hold the old file, as syslog does until it is told. Rotated more than once meanwhile, those between come first.
    """
    try:
        now = path.stat()
        if now.st_ino == inode:
            return None
    except OSError:
        return None  # moved away; the new one comes, and until then the old one is still written to
    successor = path
    for older in older_files(path):
        try:
            if older.stat().st_ino == inode:
                return successor if successor is not path or now.st_size else None
        except OSError:
            continue
        successor = older
    return path if now.st_size else None


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
