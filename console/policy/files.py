"""Policies in files: which files a person means, and what stands in them. It must not judge them."""

import sys
from collections.abc import Sequence
from pathlib import Path

from policies.lint.lint import Written

NO_FILES = "there is no policy here. Name files, or a folder that holds them (*.yaml)."


def files_of(paths: Sequence[Path]) -> list[Path]:
    """Return the files that *paths* name; a folder stands for all *.yaml in it."""
    return [file for path in paths for file in (sorted(path.glob("*.y*ml")) if path.is_dir() else [path])]


def read(files: Sequence[Path]) -> list[Written]:
    """Return what stands in *files*; one that cannot be read is told and left out."""
    found = []
    for file in files:
        try:
            found.append(Written(str(file), file.read_bytes()))
        except OSError as error:
            print(f"{file}: cannot be read: {error.strerror}.", file=sys.stderr)
    return found
