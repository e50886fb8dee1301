"""`relight policy pull`: what stands in the table into a folder, as the shipped files look.

A file that says the same stays as it is. One that nobody edited since this folder last saw the table, or since it was
copied from what comes along, follows the table, its comments kept where fields are the same; one that was edited is
left alone unless that is forced.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console.policy.answering import Answer
from console.policy.diffing import changes
from console.policy.files import files_of, write_whole
from console.policy.folder import Seen, Sheet, note, seen_by, sheets_of
from console.policy.past import brought_back
from console.policy.yaml_writing import as_yaml, patched
from console.saying import say
from functions.ports.policies import Head, PolicyEditor
from policies.coordination.switches import EVERYTHING
from policies.documents import fingerprint, operators_fields
from policies.loader import load_document
from policies.model import Policy
from policies.yaml_text import LARGEST_BYTES


@dataclass(frozen=True)
class Wish:
    """Which policies (none: all of the table) to which folder. ``shipped`` is the folder that comes along."""

    names: Sequence[str]
    folder: Path
    force: bool = False
    shipped: Path | None = None


def pull(policies: PolicyEditor, wish: Wish, answer: Answer) -> int:
    """Do it; the result is the exit status."""
    try:
        wish.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return answer.failed(f"{wish.folder} cannot be made: {error.strerror}.")
    sheets: dict[str, Sheet] = {}
    for one in sheets_of(files_of([wish.folder])):
        first = sheets.setdefault(one.name, one)
        if first is not one:
            return answer.failed(f"{one.file}: {one.name} stands in {first.file} too: remove one. Nothing was written.")
    seen, known = seen_by(wish.folder), dict[str, str]()
    names = wish.names or [name for name in policies.names() if name != EVERYTHING]
    status = 0
    for name in names:
        live, sheet = policies.live(name), sheets.get(name)
        refused = _without_item(name, policies.head(name)) if live is None else _refuse(live, sheet, seen, wish)
        text = _text(live, sheet) if live is not None and not refused else ""
        if len(text.encode()) > LARGEST_BYTES:
            refused = (
                f"as a file it is larger than the {LARGEST_BYTES} bytes that are read of one: shorten its examples."
            )
        if refused or live is None:
            answer.of(name, doing="left alone", why=refused)
            status = answer.failed(f"{name}: {refused}")
            continue
        told = "unchanged" if not text else "changed" if sheet else "new"
        file = sheet.file if sheet else _file(wish, name)
        if text:
            write_whole(file, text)
        answer.of(name, doing=told, written=told != "unchanged", file=str(file))
        say(f"{told:<10} {name}")
        known[name] = fingerprint(live)
    for name in sorted(set(sheets) - set(policies.names())) if not wish.names else ():
        answer.of(name, doing="only here", file=str(sheets[name].file))
        say(f"only here  {name}")
    note(wish.folder, seen.source, known, {})
    return status


def _without_item(name: str, head: Head | None) -> str:
    if head is None:
        return "there is no such item in the table; `relight policy list` names them."
    return f"its item was deleted. {brought_back(name)}"


def _refuse(live: Mapping[str, Any], sheet: Sheet | None, seen: Seen, wish: Wish) -> str:
    """Return why nothing is written for this policy, empty when it may be."""
    if not isinstance(load_document(live), Policy):
        return f"its item holds an edit that was refused; mend it there: `relight policy show {live['name']}`."
    there = _file(wish, str(live["name"]))
    if sheet is None and not wish.force and (there.exists() or there.is_symlink()):
        return f"{there} is there and is not this policy, or no YAML. Mend or move it; --force writes over it."
    if sheet is None or wish.force or fingerprint(sheet.document) in {fingerprint(live), *_unedited(sheet, seen, wish)}:
        return ""
    found = [
        line for change in changes(operators_fields(sheet.document), operators_fields(live)) for line in change.lines()
    ]
    differs = "".join(f"\n    {line}" for line in found)
    known = sheet.name in seen.policies
    what = "was edited here, and the table differs" if known else "differs from the table's, which it never saw"
    return f"{sheet.file} {what}. --force takes the table's.{differs}"


def _unedited(sheet: Sheet, seen: Seen, wish: Wish) -> set[str | None]:
    """Return the fingerprints under which nobody edited the file since its folder last saw the table, or copied it."""
    if sheet.name in seen.policies:
        return {seen.policies[sheet.name], seen.files.get(sheet.name)}
    copied = sheets_of([wish.shipped / f"{sheet.name}.yaml"]) if wish.shipped else []
    return {fingerprint(one.document) for one in copied}


def _file(wish: Wish, name: str) -> Path:
    return wish.folder / f"{name}.yaml"


def _text(live: Mapping[str, Any], sheet: Sheet | None) -> str:
    """Return what the file is to say, empty where it says the same already."""
    if sheet is None:
        return as_yaml(live)
    return "" if fingerprint(sheet.document) == fingerprint(live) else patched(sheet.text, live)
