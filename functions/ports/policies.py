"""Where policies are kept: what an operator edits (`live`), what is in force (`head`), what was (`rev#n`).

It must not know DynamoDB or judge policies. The twin is `functions/twins/policies.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode


class EditedMeanwhileError(DependencyError):
    """Somebody wrote the item since it was read: read it again."""


@dataclass(frozen=True)
class Heading:
    """One line of the listing: which revision of a policy is in force, under which fingerprint."""

    name: str
    revision: int
    hash: str
    mode: PolicyMode


@dataclass(frozen=True)
class Head:
    """What is in force. ``document`` is the accepted document as JSON text, in the form the loader reads."""

    name: str
    revision: int
    hash: str
    mode: PolicyMode
    document: str


class PolicyHeads(Protocol):
    """Readers' view; consistent. Failures raise DependencyError."""

    def headings(self) -> Sequence[Heading]:
        """Return the listing of all policies that were ever accepted, in one read."""
        ...

    def head(self, name: str) -> Head | None:
        """Return what is in force of one policy."""
        ...

    def heads(self, names: Sequence[str]) -> Mapping[str, Head]:
        """Return what is in force of many, by name, in few calls; what is not there is left out."""
        ...


class PolicyStore(PolicyHeads, Protocol):
    """The guard's view."""

    def live(self, name: str) -> Mapping[str, Any] | None:
        """Return the item as it stands, attributes as the table gives them, the verdict among them."""
        ...

    def put_revision(self, head: Head) -> None:
        """Keep ``rev#n``. The very same one is there already: nothing happens. Another one: EditedMeanwhileError."""
        ...

    def put_head(self, head: Head, *, after: int) -> None:
        """Put *head* in force if the one in force is still revision *after* (0: none); else EditedMeanwhileError."""
        ...

    def list_head(self, head: Head) -> None:
        """Put *head* into the listing unless a later revision is there."""
        ...

    def answer(self, name: str, seen: Mapping[str, Any], verdict: Mapping[str, Any]) -> None:
        """Write *verdict* on `live` if the operator's fields are still those of *seen*; else EditedMeanwhileError.

        An item too large to take an answer gets it beside itself, as ``answer``.
        """
        ...
