"""The revisions of a policy as a person asks for them: which were ever in force, what each changed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from console.policy.diffing import Change, changes
from functions.ports.policies import DELETED, Head
from policies.contract.vocabulary import PolicyMode


@dataclass(frozen=True)
class Past:
    """One revision, and the one ``before`` that it followed. ``in_force`` is False of one that never was."""

    head: Head
    before: Head | None
    in_force: bool
    changes: tuple[Change, ...]

    @property
    def deleted(self) -> bool:
        """Whether it is the one that a deletion made."""
        return self.head.hash.startswith(DELETED)


def past_of(head: Head | None, revisions: Sequence[Head]) -> list[Past]:
    """Return all revisions, newest first; *head* is the one in force."""
    kept = {each.revision: each for each in revisions}
    chain = _chain(head, kept)
    found = []
    for each in sorted(revisions, key=lambda one: one.revision, reverse=True):
        before = kept.get(_after(each, kept))
        found.append(Past(each, before, each.revision in chain, tuple(_changed(before, each))))
    return found


def _chain(head: Head | None, kept: Mapping[int, Head]) -> set[int]:
    """Return the numbers that were in force: each revision says which one it followed."""
    chain: set[int] = set()
    number = head.revision if head else 0
    while number in kept and number not in chain:
        chain.add(number)
        number = _after(kept[number], kept)
    return chain


def _after(head: Head, kept: Mapping[int, Head]) -> int:
    if head.edit.after is not None:
        return head.edit.after
    return max((number for number in kept if number < head.revision), default=0)


def _changed(before: Head | None, after: Head) -> list[Change]:
    if after.hash.startswith(DELETED):
        return [Change("mode", before.mode.value if before else "", PolicyMode.OFF.value)]
    if before is None:
        return []
    found = changes(document_of(before), document_of(after))
    if before.hash.startswith(DELETED) and not any(one.path == "mode" for one in found):
        found.insert(0, Change("mode", PolicyMode.OFF.value, after.mode.value))
    return found


def document_of(head: Head) -> dict[str, Any]:
    """Return the document of a revision; one that somebody broke by hand is empty."""
    try:
        document = json.loads(head.document)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def in_force_of(head: Head) -> dict[str, Any]:
    """Return what *head* does when it is in force; one that a deletion made is off, whatever its document says."""
    return {**document_of(head), "mode": head.mode.value}


def brought_back(name: str) -> str:
    """Return how *name* is had again after its item was deleted: every other command needs an item."""
    return f"`relight policy rollback {name}` brings it back."


def before(head: Head, revisions: Sequence[Head]) -> Head | None:
    """Return what to go back to from *head*: the newest revision before it, or before what it restored, that differs.

    So going back twice goes back two steps, and never to what was left in the first.
    """
    chain = {one.head.revision: one for one in past_of(head, revisions) if one.in_force}
    number = head.edit.restored if head.edit.restored in chain else head.revision
    for revision in sorted(chain, reverse=True):
        past = chain[revision]
        if revision < number and not past.deleted and past.head.hash != head.hash:
            return past.head
    return None
