"""The revisions of a policy as a person asks for them: which were ever in force, what each changed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from console.policy.diffing import Change, changes
from functions.ports.policies import DELETED, Head
from policies.contract.vocabulary import PolicyMode

NOT_THERE = "cannot be read: its item was changed or deleted by hand."


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
    chain, _lost = _chain(head, kept)
    found = []
    for each in sorted(revisions, key=lambda one: one.revision, reverse=True):
        before = kept.get(_after(each, kept))
        found.append(Past(each, before, each.revision in chain, tuple(_changed(before, each))))
    return found


def unreadable(head: Head | None, revisions: Sequence[Head]) -> list[int]:
    """Return the numbers that others followed and that are not there: somebody changed or deleted them by hand."""
    _there, lost = _chain(head, {each.revision: each for each in revisions})
    return sorted(lost, reverse=True)


def _chain(head: Head | None, kept: Mapping[int, Head]) -> tuple[set[int], set[int]]:
    """Return the numbers that were in force, and those of them that are not there to be read.

    Each revision says which one it followed; of one that is not there it is taken to be the one before.
    """
    chain, lost = set[int](), set[int]()
    number = head.revision if head else 0
    while number > 0 and number not in chain | lost:
        (chain if number in kept else lost).add(number)
        number = _after(kept[number], kept) if number in kept else _below(number, kept)
    return chain, lost


def _below(number: int, kept: Mapping[int, Head]) -> int:
    return max((each for each in kept if each < number), default=0)


def _after(head: Head, kept: Mapping[int, Head]) -> int:
    if head.edit.after is not None:
        return head.edit.after
    return _below(head.revision, kept)


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

    So going back twice goes back two steps, and never to what was left in the first; nor past one that is not there to
    be read, which a person may have meant.
    """
    chain = {one.head.revision: one for one in past_of(head, revisions) if one.in_force}
    lost = unreadable(head, revisions)
    number = head.edit.restored if head.edit.restored in {*chain, *lost} else head.revision
    for revision in sorted(chain, reverse=True):
        past = chain[revision]
        if any(revision < each < number for each in lost):
            return None
        if revision < number and not past.deleted and past.head.hash != head.hash:
            return past.head
    return None
