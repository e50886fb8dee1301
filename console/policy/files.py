"""Policies in files: which files a person means, and what stands in them. It must not judge them."""

import sys
from collections.abc import Sequence
from pathlib import Path

from console.asked_wrongly import AskedWronglyError
from console.saying import say
from policies.contract.errors import BadInputError
from policies.lint.lint import Written

MOST_FILES = 1000
_SUFFIXES = frozenset({".yaml", ".yml"})
NO_FILES = "there is no policy here. Name files, or a folder that holds them (*.yaml)."


def files_of(paths: Sequence[Path]) -> list[Path]:
    """Return the files that *paths* name; a folder stands for all *.yaml in it, those of folders below left out.

    AskedWronglyError when one of *paths* is not there: of what a person mistyped nothing is to be said, not even that
    it is good. BadInputError when there are more than anybody's policies: reading them takes lint some ten milliseconds
    each.
    """
    for path in paths:
        if not path.exists():
            raise AskedWronglyError(f"{path} is not there.", hint="Name files, or a folder that holds them (*.yaml).")
    found = [file for path in paths for file in (_in(path) if path.is_dir() else [path])]
    if len(found) > MOST_FILES:
        told = f"{', '.join(map(str, paths[:3]))}: {len(found)} files, and at most {MOST_FILES} are taken."
        raise BadInputError(
            told, hint="Is it the right folder? Name the files, or several folders one after the other."
        )
    return found


def _in(folder: Path) -> list[Path]:
    """Return the policies of a folder. What an editor puts beside an open file (`.#x.yaml`) is none; nor is a pipe."""
    there = (file for file in folder.iterdir() if file.suffix in _SUFFIXES and not file.name.startswith("."))
    return sorted(file for file in there if file.is_file() or (file.is_symlink() and not file.exists()))


def write_whole(file: Path, text: str) -> None:
    """Write *text* as it is, line ends too; whoever is stopped on the way leaves what was there. Raises OSError."""
    target = file.resolve()  # of a link the file behind it
    part = target.with_name(f".{target.name}.part")
    try:
        part.write_bytes(text.encode())
        if target.exists():
            part.chmod(target.stat().st_mode)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def read(files: Sequence[Path]) -> list[Written]:
    """Return what stands in *files*; one that cannot be read is told and left out."""
    found = []
    for file in files:
        try:
            found.append(Written(str(file), file.read_bytes()))
        except OSError as error:
            say(f"{file}: cannot be read: {error.strerror}.", file=sys.stderr)
    return found
