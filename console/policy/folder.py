"""Policies in a folder of files, and what that folder last saw in the table.

`.relight-table.json` beside the files holds, of each policy, the fingerprint that a push wrote there or a pull found.
It tells an edit that somebody made in the table meanwhile from one that this folder knows of: keep it with the files in
git. Of a file that was pushed in another mode than its own it holds the file's fingerprint too: so a pull knows that
nobody edited it since. It must not know the table.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from console.policy.files import write_whole
from console.saying import say
from policies.yaml_text import read_yaml

SEEN = ".relight-table.json"


@dataclass(frozen=True)
class Sheet:
    """One policy's file."""

    file: Path
    text: str
    document: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return the policy's name."""
        return str(self.document.get("name", ""))


@dataclass(frozen=True)
class Seen:
    """What a folder last saw: policy -> fingerprint. ``source`` is what it calls itself on the items that it pushes.

    ``files`` has those of files that did not say the same then.
    """

    source: str
    policies: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Gathered:
    """What stands in some files, read once: their ``sheets``, and what each of their folders last saw (``seen``)."""

    sheets: Sequence[Sheet]
    seen: Mapping[Path, Seen]

    def home_of(self, name: str) -> Path | None:
        """Return the folder of the policy *name*; None when no file of these is about it."""
        return next((sheet.file.parent for sheet in self.sheets if sheet.name == name), None)


def gather(files: Sequence[Path]) -> Gathered:
    """Read *files* and what their folders last saw."""
    return Gathered(sheets_of(files), {folder: seen_by(folder) for folder in {file.parent for file in files}})


def sheets_of(files: Sequence[Path]) -> list[Sheet]:
    """Return what stands in *files*; what cannot be read, or is no policy, is left out (lint tells of it)."""
    found = []
    for file in files:
        try:
            text = file.read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            continue
        document = read_yaml(text)
        if isinstance(document, dict) and isinstance(document.get("name"), str):
            found.append(Sheet(file, text, document))
    return found


def seen_by(folder: Path) -> Seen:
    """Return what *folder* last saw; one that never met a table calls itself by its own name."""
    try:
        told = json.loads((folder / SEEN).read_text(encoding="utf-8"))
        policies, files = (
            {str(name): str(mark) for name, mark in marks.items()}
            for marks in (told["policies"], told.get("files", {}))
        )
        return Seen(str(told["source"]), policies, files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Seen(folder.resolve().name, {})


def note(folder: Path, source: str, policies: Mapping[str, str], files: Mapping[str, str]) -> None:
    """Note in *folder* what it saw by now: of *policies* in the table, and of their *files*.

    A folder that cannot be written is told of.
    """
    before = seen_by(folder)
    others = {name: mark for name, mark in before.files.items() if name not in policies}
    differ = {name: mark for name, mark in files.items() if policies.get(name, mark) != mark}
    every = {"policies": {**before.policies, **policies}, "files": {**others, **differ}}
    told = {name: dict(sorted(marks.items())) for name, marks in every.items() if marks or name == "policies"}
    text = json.dumps({"source": source, **told}, indent=1)
    try:
        write_whole(folder / SEEN, f"{text}\n")
    except OSError as error:
        say(
            f"{folder / SEEN} cannot be written ({error.strerror}): the next push from here has to be told --force.",
            file=sys.stderr,
        )
