"""`relight policy diff`: files against the table, an item against what is in force, two revisions with each other.

Exit status: 0 the same, 1 they differ, 2 asked wrongly or not to be read.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console.asked_wrongly import ASKED_WRONGLY, AskedWronglyError
from console.policy.complaining import complain
from console.policy.diffing import Change, changes
from console.policy.edits import SOURCE, pushed_of
from console.policy.files import files_of
from console.policy.folder import seen_by, sheets_of
from console.policy.modes import MOST_NAMED, standing
from console.policy.past import document_of, in_force_of
from console.policy.planning import fields_of
from console.saying import say
from functions.ports.policies import PolicyEditor
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING
from policies.documents import fingerprint, operators_fields
from policies.wording import first_few

SAME, DIFFERS = 0, 1
_MOST_FOREIGN = 5  # lines of policies that a folder has nothing to do with; of more it tells how many
_RANGE = re.compile(r"([0-9]{1,9})(?:\.\.([0-9]{1,9}))?")


@dataclass(frozen=True)
class Difference:
    """One policy: ``what`` (``same``, ``changed``, ``only in the files``, ``only in the table``) and its changes.

    ``stops``: it is active, and would not be by what its file says. ``foreign``: the folders never pushed it.
    """

    name: str
    what: str
    changes: Sequence[Change] = ()
    note: str = ""
    stops: bool = False
    foreign: bool = False

    def document(self) -> dict[str, Any]:
        """Return it for machines."""
        told = [change.document() for change in self.changes]
        return {"name": self.name, "what": self.what, "note": self.note, "changes": told}


def compare(policies: PolicyEditor, wanted: Sequence[str], revisions: str, *, as_json: bool) -> int:
    """Print what differs; the answer is the exit status."""
    try:
        found = _differences(policies, wanted, revisions)
    except AskedWronglyError as error:
        return complain(error.message, ASKED_WRONGLY)
    different = [each for each in found if each.what != "same"]
    stopped = [each.name for each in found if each.stops]
    if as_json:
        told: dict[str, Any] = {"same": len(found) - len(different)}
        told |= {"differences": [each.document() for each in different], "would_stop": stopped}
        print(json.dumps(told, ensure_ascii=False, indent=1, default=str))
    else:
        foreign = [each for each in different if each.foreign]
        others = foreign if len(foreign) > _MOST_FOREIGN else []
        for each in different:
            if each in others:
                continue
            say(f"{each.what:<18} {each.name}{f' ({each.note})' if each.note else ''}")
            for change in each.changes:
                for line in change.lines():
                    say(f"    {line}")
        if others:
            names = first_few([each.name for each in others], MOST_NAMED)
            say(f"only in the table  {len(others)} that were not pushed from here: {names}")
            say("                   (`--json` names each; `relight policy list` too)")
        say(f"{len(found) - len(different)} the same, {len(different)} not.")
        if stopped:
            say(f"{len(stopped)} would stop acting by what the files say: {first_few(stopped, MOST_NAMED)}.")
            say("`relight policy push --mode keep` leaves each in the mode that it has in the table.")
    return DIFFERS if different else SAME


def _differences(policies: PolicyEditor, wanted: Sequence[str], revisions: str) -> list[Difference]:
    paths = [Path(word) for word in wanted if Path(word).exists()]
    if paths and len(paths) == len(wanted) and not revisions:
        return _of_files(policies, paths)
    (first, *more) = wanted
    if not more and ("/" in first or first.endswith((".yaml", ".yml"))):  # as no policy is called
        raise AskedWronglyError(f"{first} is not there.")
    if more:
        raise AskedWronglyError("name files and folders that are there, or one policy of the table.")
    return [_of_revisions(policies, first, revisions) if revisions else _of_item(policies, first)]


def _of_files(policies: PolicyEditor, paths: Sequence[Path]) -> list[Difference]:
    files = files_of(paths)
    sheets = {sheet.name: sheet for sheet in sheets_of(files)}
    if len(sheets) != len(files):
        raise AskedWronglyError("not every file is a policy of its own: relight policy lint says why.")
    found = [_of_sheet(policies, name, sheet.document) for name, sheet in sorted(sheets.items())]
    if all(path.is_dir() for path in paths):
        found += _only_there(policies, set(sheets), {seen_by(path).source for path in paths})
    return found


def _of_sheet(policies: PolicyEditor, name: str, document: Mapping[str, Any]) -> Difference:
    live = policies.live(name)
    if live is None:
        return Difference(name, "only in the files")
    if fingerprint(live) == fingerprint(document):
        return Difference(name, "same")
    refused = _is_refused(live)
    note = "the item holds an edit that was refused" if refused else ""
    active = standing(live, policies.head(name), refused=refused) is PolicyMode.ACTIVE
    stops = active and document.get("mode") != PolicyMode.ACTIVE
    return Difference(name, "changed", changes(fields_of(live), operators_fields(document)), note, stops)


def _is_refused(live: Mapping[str, Any]) -> bool:
    verdict = live.get("verdict")
    return isinstance(verdict, Mapping) and (verdict.get("status"), verdict.get("hash")) == (
        "rejected",
        fingerprint(live),
    )


def _only_there(policies: PolicyEditor, there: set[str], sources: set[str]) -> list[Difference]:
    """Return what only the table has; what is off there is no difference to a folder that does not have it."""
    found = []
    for name in sorted(set(policies.names()) - there - {EVERYTHING}):
        live = policies.live(name)
        if live is not None and live.get("mode") != PolicyMode.OFF:
            source = pushed_of(live).get(SOURCE)
            note = f"pushed from {source}" if source else ""
            found.append(Difference(name, "only in the table", note=note, foreign=source not in sources))
    return found


def _of_item(policies: PolicyEditor, name: str) -> Difference:
    """Return what the item says otherwise than what is in force."""
    live, head = policies.live(name), policies.head(name)
    if live is None and head is None:
        raise AskedWronglyError(f"there is no policy {name}; `relight policy list` names them.")
    if live is None:
        assert head is not None
        return Difference(name, "same" if head.mode is PolicyMode.OFF else "changed", note="its item was deleted")
    if head is None:
        return Difference(name, "changed", changes({}, fields_of(live)), "nothing of it is in force")
    if fingerprint(live) == head.hash:
        return Difference(name, "same")
    return Difference(name, "changed", changes(document_of(head), fields_of(live)), "from what is in force to the item")


def _of_revisions(policies: PolicyEditor, name: str, revisions: str) -> Difference:
    asked = _RANGE.fullmatch(revisions)
    if asked is None:
        raise AskedWronglyError("--revision is A..B, or A against what is in force.")
    head = policies.head(name)
    first = policies.revision(name, int(asked[1]))
    second = policies.revision(name, int(asked[2])) if asked[2] else head
    if first is None or second is None:
        raise AskedWronglyError(f"there is no such revision of {name}: `relight policy history {name}`.")
    found = changes(in_force_of(first), in_force_of(second))
    told = f"revision {first.revision} to {second.revision}"
    return Difference(name, "changed" if found else "same", found, told)
