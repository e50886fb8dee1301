"""Where policies are kept: what an operator edits (`live`), what is in force (`head`), what was (`rev#n`).

It must not know DynamoDB or judge policies. The twin is `functions/twins/policies.py`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from functions.ports.calls import Call
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode

UNKNOWN = "unknown"
DELETED = "deleted-"
"""What the fingerprint of a revision begins with that a deletion made: its document is that of the one before."""


class EditedMeanwhileError(DependencyError):
    """Somebody wrote the item since it was read: read it again."""


class BrokenItemError(DependencyError):
    """What the guard wrote was changed by hand and is no revision any more; ``found`` is what stands there instead."""

    def __init__(self, message: str, *, hint: str = "", found: object = None) -> None:
        """Keep what *found* is beside message and hint."""
        super().__init__(message, hint=hint)
        self.found = found


@dataclass(frozen=True)
class Heading:
    """One line of the listing: which revision of a policy is in force, under which fingerprint."""

    name: str
    revision: int
    hash: str
    mode: PolicyMode

    @classmethod
    def unreadable(cls, name: str) -> Self:
        """Return what stands for a line that somebody broke by hand: it says only that there is a head to ask."""
        return cls(name, 0, "", PolicyMode.ACTIVE)

    @property
    def is_readable(self) -> bool:
        """Whether the line says anything; else the head does."""
        return self.revision > 0


@dataclass(frozen=True)
class Edit:
    """How a revision came about, as far as it is known.

    ``by``, ``at`` (RFC 3339, that person's clock) and ``reason`` are from one of our commands; an edit in AWS's own
    console is ``unknown``. ``source`` is the folder that a push came from, ``restored`` the revision that a roll-back
    brought again. ``after`` is the revision that was in force before (0: none), so that one that never came into force
    can be told; None where it was not written yet. ``used`` are the seals that were believed, newest last.
    ``written_from`` and ``written_until`` are when its first and last write came to the table, in whole seconds by the
    stream's clock; "" where that is not known.
    """

    by: str = UNKNOWN
    at: str = ""
    reason: str = ""
    source: str = ""
    restored: int = 0
    mark: str = ""
    accepted_at: str = ""
    after: int | None = None
    used: tuple[str, ...] = ()
    written_from: str = ""
    written_until: str = ""


@dataclass(frozen=True)
class Head:
    """What is in force. ``document`` is the accepted document as JSON text, in the form the loader reads."""

    name: str
    revision: int
    hash: str
    mode: PolicyMode
    document: str
    edit: Edit = Edit()

    @property
    def heading(self) -> Heading:
        """Return its line of the listing."""
        return Heading(self.name, self.revision, self.hash, self.mode)

    def is_same(self, other: "Head") -> bool:
        """Whether both are one revision: when it was written and accepted counts for nothing, a repeat comes later."""
        return _timeless(self) == _timeless(other)


def _timeless(head: Head) -> Head:
    return replace(head, edit=replace(head.edit, accepted_at="", used=(), written_from="", written_until=""))


@dataclass(frozen=True)
class Seen:
    """What stood where only the guard writes, when it was read: the head, and its line of the listing."""

    head: Head | BrokenItemError | None = None
    line: Heading | BrokenItemError | None = None


class PolicyHeads(Protocol):
    """Readers' view; consistent. Failures raise DependencyError."""

    def headings(self) -> Sequence[Heading]:
        """Return the listing of all policies that were ever accepted, in one read.

        One broken line hides no other: it comes as `Heading.unreadable`. None at all: no policy was ever accepted, or
        somebody removed the listing; `names_of_heads` tells which.
        """
        ...

    def names_of_heads(self) -> Sequence[str]:
        """Return the names of all that has a head, though it be broken, past the listing: it reads the whole table."""
        ...

    def head(self, name: str) -> Head | None:
        """Return what is in force of one policy."""
        ...

    def heads(self, names: Sequence[str]) -> Mapping[str, Head]:
        """Return what is in force of many, by name, in few calls; what is not there or is broken is left out."""
        ...


class PolicyHistory(Protocol):
    """What was: revisions are kept for ever."""

    def revision(self, name: str, number: int) -> Head | None:
        """Return ``rev#n``; BrokenItemError when it cannot be read."""
        ...

    def revisions(self, name: str) -> Sequence[Head]:
        """Return those that can be read, newest first; some may never have come into force."""
        ...


class PolicyStore(PolicyHeads, PolicyHistory, Protocol):
    """The guard's view. ``head`` and ``heading`` raise BrokenItemError for what somebody changed by hand."""

    def live(self, name: str) -> Mapping[str, Any] | None:
        """Return the item as it stands, attributes as the table gives them, the verdict among them."""
        ...

    def lives(self, names: Sequence[str]) -> Iterable[Mapping[str, Any]]:
        """Return what there is of many items as `live` does, in few calls and any order: none need be held together."""
        ...

    def names_in(self, part: int, parts: int) -> Iterable[Sequence[str]]:
        """Yield names of `live` items, of one of *parts* equal parts of the table (from 0), some at a time, or none.

        So whoever has not the time for all may stop after each. A name may come in more than one part.
        """
        ...

    def heading(self, name: str) -> Heading | None:
        """Return one line of the listing."""
        ...

    def put_revision(self, head: Head) -> Head:
        """Keep ``rev#n`` and return it; one that `is_same` is there already: return that. Else EditedMeanwhileError."""
        ...

    def put_head(self, head: Head, *, after: int) -> None:
        """Put *head* in force if the one in force is still revision *after* (0: none); else EditedMeanwhileError."""
        ...

    def list_head(self, head: Head) -> None:
        """Put *head* into the listing unless a later revision is there; where there is no listing, as `list_anew`."""
        ...

    def list_anew(self) -> Sequence[Heading]:
        """Make the listing of all heads in one write where there is none, so that nobody sees half of one; return it.

        A broken head gets a line that is unreadable. Where no head is, nothing is made.
        """
        ...

    def restore(self, head: Head, seen: Seen) -> None:
        """Write revision, head and line of the listing anew, whatever somebody made of them by hand.

        Only where head and line are still as they were *seen*, else EditedMeanwhileError: another guard may have
        accepted an edit since.
        """
        ...

    def verdict(self, live: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the answer to *live*: on it, or beside it where it had no room."""
        ...

    def answer(self, name: str, seen: Mapping[str, Any], verdict: Mapping[str, Any]) -> None:
        """Write *verdict* on `live` if the operator's fields are still those of *seen*; else EditedMeanwhileError.

        An item too large to take an answer gets it beside itself, as ``answer``.
        """
        ...

    def forget_answer(self, name: str) -> None:
        """Remove the answer beside an item, if there is one."""
        ...


class PolicyEditor(PolicyHeads, PolicyHistory, Protocol):
    """A person's view, through a command."""

    def live(self, name: str) -> Mapping[str, Any] | None:
        """See `PolicyStore`."""
        ...

    def verdict(self, live: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """See `PolicyStore`."""
        ...

    def names(self) -> Sequence[str]:
        """Return the names of all `live` items, sorted."""
        ...

    def calls_of(self, name: str) -> Sequence[Call]:
        """Return the calls that wrote its items, or may have, as `Calls.of` does; none where nobody notes them."""
        ...

    def replace_live(self, seen: Mapping[str, Any] | None, item: Mapping[str, Any]) -> None:
        """Write a whole `live` item in place of *seen* (None: there is none); EditedMeanwhileError if it is another.

        Again is the same: an answer that was lost leaves *item* there, and then it is there.
        """
        ...
