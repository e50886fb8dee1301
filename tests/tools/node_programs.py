"""Programs of a node, made for a test: small scripts in a folder that comes first in PATH."""

import os
from pathlib import Path

import pytest


class Programs:
    """A folder of programs; each writes down the words that it was called with."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder

    def add(self, name: str, script: str) -> None:
        """Let *name* be this shell script."""
        path = self.folder / name
        path.write_text(f'#!/bin/sh\necho "$0 $*" | sed "s:.*/::" >> "{self.folder}/calls"\n{script}\n')
        path.chmod(0o755)

    def calls(self) -> list[str]:
        """Return the calls so far, oldest first."""
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []


def programs_in_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    programs = Programs(folder)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return programs
