"""Puts right what somebody changed by hand where only the guard writes: `head`, `rev#n` and the lines of the listing.

Readers believe these items. A revision vouches for itself by its fingerprint, a head by the revision that it is.
Decides what was in force; it must not judge policies.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from functions.ports.policies import DELETED, BrokenItemError, Head, Heading, PolicyStore, Seen
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import PolicyMode
from policies.documents import canonical, fingerprint


def is_sound(head: Head) -> bool:
    """Whether *head* says of itself what it is: the fingerprint is that of its document, the mode is the document's."""
    try:
        document = json.loads(head.document)
    except ValueError:
        return False
    if not isinstance(document, dict) or head.revision < 1:
        return False
    deleted, mark = head.hash.startswith(DELETED), head.hash.removeprefix(DELETED)
    mode = PolicyMode.OFF if deleted else document.get("mode")
    return fingerprint(document) == mark and mode == head.mode and document.get("name") == head.name


@dataclass(frozen=True)
class Standing:
    """What is in force (None: nothing), and its line of the listing.

    ``mend`` is "" when its items are as they should be; else they have to be written anew, and it tells this damage
    from others: it is the same as long as nothing is written. ``seen`` is what stood there instead.
    """

    head: Head | None = None
    listed: Heading | None = None
    mend: str = ""
    seen: Seen = field(default_factory=Seen)

    @property
    def revision(self) -> int:
        """Return the number in force, 0 for none."""
        return self.head.revision if self.head else 0


def standing_of(store: PolicyStore, name: str) -> Standing:
    """Return what is in force of *name*, whatever somebody made of its items by hand."""
    line = _heading(store, name)  # first: a head that is newer than its line is as it should be
    there = _head(store, name)
    seen = Seen(there, line)
    if there is None and line is None:
        return Standing()
    listed = line if isinstance(line, Heading) else None
    head = there if isinstance(there, Head) else None
    spoiled = isinstance(line, BrokenItemError)
    kept = _revision(store, name, head.revision) if head else None
    damage = stable_id("damage", name, listed, spoiled, head, isinstance(there, BrokenItemError), kept)
    if head and is_sound(head):
        if kept and kept.is_same(head):
            leads = listed is not None and listed.revision > head.revision
            return Standing(head, listed, damage if spoiled or leads else "", seen)
        if (kept is None or not is_sound(kept)) and listed == head.heading:
            return Standing(head, listed, damage, seen)  # it is the revision that was changed
    best = _best(name, store.revisions(name), listed)
    return Standing(best, best.heading, damage, seen)


def _best(name: str, revisions: Sequence[Head], listed: Heading | None) -> Head:
    """Return the revision that the listing tells of, else the newest sound one, else one that is off."""
    sound = [each for each in revisions if is_sound(each)]
    told = [each for each in sound if listed and (each.revision, each.hash) == (listed.revision, listed.hash)]
    return next(iter([*told, *sound]), None) or _nothing(
        name, 1 + max((each.revision for each in revisions), default=0)
    )


def _nothing(name: str, revision: int) -> Head:
    """Readers must find something that they can read: as after a deletion, it is off."""
    document = {"name": name}
    return Head(name, revision, f"{DELETED}{fingerprint(document)}", PolicyMode.OFF, canonical(document))


def _heading(store: PolicyStore, name: str) -> Heading | BrokenItemError | None:
    """Return the line of the listing, or what is there instead."""
    try:
        return store.heading(name)
    except BrokenItemError as broken:
        return broken


def _head(store: PolicyStore, name: str) -> Head | BrokenItemError | None:
    try:
        return store.head(name)
    except BrokenItemError as broken:
        return broken


def _revision(store: PolicyStore, name: str, number: int) -> Head | None:
    try:
        return store.revision(name, number)
    except BrokenItemError:
        return None
