"""The policies in force as the virtual clock moves: the table as it was, or a candidate's for the whole time.

The table is `MemoryPolicies`, read by triage's own `Rulebooks` and coordinate's own switchboard. Decides which revision
a candidate's document has: the number under which history knows it, else the next. It must not judge policies.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from functions.ports.policies import DELETED, Head
from functions.ports.triage import Telemetry
from functions.triage.rulebooks import Rulebooks
from functions.twins.policies import MemoryPolicies
from functions.twins.switches import MemorySwitches
from policies.contract.archive import Happening
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING, SelfShadow
from policies.documents import canonical, fingerprint, operators_fields
from policies.rulebook import Rulebook


@dataclass(frozen=True)
class Revisions:
    """Every revision that history knows, by name. ``changes`` is what came into force when, in order.

    ``unreadable`` counts lines that somebody's hand in the table made no policy of, or that another version wrote.
    """

    known: Mapping[str, Mapping[int, Head]] = field(default_factory=dict)
    changes: Sequence[Happening] = ()
    unreadable: int = 0

    @classmethod
    def of(cls, happenings: Iterable[Happening]) -> "Revisions":
        """Return what *happenings* of the policies table tell."""
        known: dict[str, dict[int, Head]] = {}
        changes: list[Happening] = []
        unreadable = 0
        for each in happenings:
            if each.what == "policy" and (head := _head(each.document)):
                known.setdefault(head.name, {})[head.revision] = head
            elif _is_change(each):
                changes.append(each)
            else:
                unreadable += 1
        return cls(known, sorted(changes, key=lambda each: each.order), unreadable)

    def with_heads(self, heads: Iterable[Head], at: datetime) -> "Revisions":
        """Return these with *heads*, which are in force *at* the end whatever the archive says: it may be younger."""
        known = {name: dict(mine) for name, mine in self.known.items()}
        changes = list(self.changes)
        for head in heads:
            known.setdefault(head.name, {})[head.revision] = head
            brief = {"name": head.name, "revision": head.revision, "hash": head.hash, "mode": head.mode.value}
            changes.append(Happening(at, "in_force", f"{head.name}:{head.revision:08d}", brief))
        return Revisions(known, changes, self.unreadable)

    def head_of(self, fields: Mapping[str, Any], mode: PolicyMode) -> Head:
        """Return the head that a document with these *fields* has, or would get if it were pushed now."""
        name, mark = str(fields["name"]), fingerprint(fields)
        mine = self.known.get(name, {})
        same = [head for head in mine.values() if head.hash == mark]
        if same:
            return max(same, key=lambda head: head.revision)
        revision = max(mine, default=0) + 1
        return Head(name, revision, mark, mode, canonical(operators_fields(fields)))

    def newest(self) -> list[Head]:
        """Return the head of each policy as it stood when the archive ended."""
        return [head for each in self._newest() if (head := self.head_in(each)) is not None]

    def modes(self) -> dict[str, PolicyMode]:
        """Return in which mode each policy stood when the archive ended, whether it has that revision or not."""
        return {str(each.document["name"]): PolicyMode(each.document["mode"]) for each in self._newest()}

    def lost(self) -> list[str]:
        """Return the revisions that stood in force when the archive ended, other than off, and are not in it."""
        lost = (each.document for each in self._newest() if self.head_in(each) is None)
        return sorted(f"{one['name']} revision {one['revision']}" for one in lost if one["mode"] != PolicyMode.OFF)

    def _newest(self) -> Collection[Happening]:
        return {str(each.document["name"]): each for each in self.changes if each.what == "in_force"}.values()

    def head_in(self, change: Happening) -> Head | None:
        """Return which head *change* put in force; None when its revision is not in the archive."""
        document = change.document
        head = self.known.get(str(document.get("name")), {}).get(int(document.get("revision", 0)))
        mode = document.get("mode")
        return replace(head, mode=PolicyMode(mode)) if head and mode else head


class InForce:
    """The table while the clock moves. ``missing`` names revisions that came into force and are not in the archive."""

    def __init__(self, telemetry: Telemetry, revisions: Revisions, candidate: Sequence[Head] | None = None) -> None:
        """Follow *revisions*; a *candidate* is in force all the time instead, and only switches follow."""
        self._revisions = revisions
        self._candidate = candidate is not None
        self._changes = revisions.changes
        self._at = 0
        self._table = MemoryPolicies()
        self._rulebooks = Rulebooks(self._table, telemetry)
        self._rulebook: Rulebook | None = None
        self.switches = MemorySwitches(self._table)
        self.missing: set[str] = set()
        for head in candidate or ():
            self._put(head)

    @property
    def next_at(self) -> datetime | None:
        """When something changes next."""
        return self._changes[self._at].at if self._at < len(self._changes) else None

    def pass_to(self, now: datetime) -> None:
        """Have everything changed that changed until *now*."""
        while self._at < len(self._changes) and self._changes[self._at].at <= now:
            self._apply(self._changes[self._at])
            self._at += 1

    @property
    def rulebook(self) -> Rulebook:
        """The rules in force, compiled once they are asked for."""
        if self._rulebook is None:
            self._rulebook = self._rulebooks.current()
        return self._rulebook

    def _apply(self, change: Happening) -> None:
        if change.what == "switch":
            self._table.live_items.pop(EVERYTHING, None)
            if change.document:
                self._table.live_items[EVERYTHING] = dict(change.document)
        elif change.what == "shadow":
            self._lift(change.document)
        elif not self._candidate:
            head = self._revisions.head_in(change)
            if head is None:
                self.missing.add(f"{change.document.get('name')} revision {change.document.get('revision')}")
            else:
                self._put(head)

    def _put(self, head: Head) -> None:
        self._table.in_force[head.name] = head
        self._table.listing.pop(head.name, None)
        self._table.list_head(head)
        self._rulebook = None

    def _lift(self, document: Mapping[str, Any]) -> None:
        """A shadow is the replay's own to put; that a person lifted it is history's."""
        told = SelfShadow.model_validate_json(json.dumps(document))
        mine = self.switches.shadows.get(told.policy)
        if mine and told.lifted_at and mine.lifted_at is None:
            lifted = {"lifted_at": told.lifted_at, "lifted_by": told.lifted_by, "lifted_why": told.lifted_why}
            self.switches.shadows[told.policy] = mine.model_copy(update={**lifted, "version": mine.version + 1})


def _head(document: Mapping[str, Any]) -> Head | None:
    """Return the revision in *document*; None for one that cannot be read, or is not what its fingerprint says."""
    text = document.get("document")
    try:
        head = Head(
            name=str(document["name"]),
            revision=int(document["revision"]),
            hash=str(document["hash"]),
            mode=PolicyMode(document["mode"]),
            document=text if isinstance(text, str) else json.dumps(text),
        )
        fields = json.loads(head.document)
    except (KeyError, ValueError, TypeError, ArithmeticError):
        return None
    told = isinstance(fields, dict) and fingerprint(fields) == head.hash.removeprefix(DELETED)
    return head if told else None


def _is_change(told: Happening) -> bool:
    """Whether *told* is a change that can be followed."""
    document = told.document
    try:
        if told.what == "in_force":
            return bool(document["name"]) and int(document["revision"]) > 0 and PolicyMode(document["mode"]) is not None
        if told.what == "shadow":
            return bool(SelfShadow.model_validate_json(json.dumps(document)))
    except (KeyError, ValueError, TypeError, ArithmeticError):
        return False
    return told.what == "switch"
