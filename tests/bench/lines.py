"""Lines of Python by package and by kind of test: all of them, comments and docstrings too."""

import subprocess
from collections import Counter
from pathlib import Path, PurePosixPath

from tests.bench.measure import Figure, figure

ROOT = Path(__file__).resolve().parents[2]


def figures() -> list[Figure]:
    counts = Counter[str]()
    for path in _files():
        counts[_room(PurePosixPath(path))] += len((ROOT / path).read_text(encoding="utf-8").splitlines())
    return [figure(f"lines: {room}", "lines", [count], better="lower") for room, count in sorted(counts.items())]


def _files() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines() if (ROOT / path).exists()]


def _room(path: PurePosixPath) -> str:
    """Return the package, or what kind of test it is: ``policies``, ``tests/unit/policies``, ``tests/integration``."""
    if path.parts[0] != "tests":
        return path.parts[0]
    depth = 3 if path.parts[1] == "unit" else 2
    return "/".join(path.parts[:-1][:depth])
