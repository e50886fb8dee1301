"""The words of checkpoint choice: candidates, reads, refusals, the choice.

A check does no I/O: it is a generator that asks for a few bytes (`Read`) and is sent them, so that the same check runs
over S3, a disk and a test's dictionary. It must not know who reads.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from policies.checkpoints.listing import Entry, Tree


@dataclass(frozen=True)
class Read:
    """A wish for ``length`` bytes of the entry, from ``start``. The answer is shorter only where the file ends."""

    entry: Entry
    start: int
    length: int


Check = Generator[Read, bytes, str]
"""Asks for reads and returns why the candidate is not complete; an empty text when it is."""


@dataclass(frozen=True)
class Candidate:
    """What may be one checkpoint: a folder, or one file. ``files`` maps names relative to ``path`` to entries."""

    layout: str
    step: int
    path: str
    files: Mapping[str, Entry]
    remark: str = ""  # what its surroundings say against it: a marker beside it, a folder not yet renamed
    object_store: bool = True

    @property
    def changed_at(self) -> datetime | None:
        """When anything of it last changed; None when it has no file."""
        return max((entry.modified for entry in self.files.values()), default=None)


@dataclass(frozen=True)
class Layout:
    """How one framework lays its checkpoints out.

    ``find`` names the candidates of a tree; ``check`` judges one of them, and may look at the others of its layout.
    ``resumable``: it holds optimizer and progress, not weights alone. ``counts_steps``: its number is a training step,
    not a count of saves.
    """

    name: str
    find: Callable[[Tree], Sequence[Candidate]]
    check: Callable[[Candidate, Sequence[Candidate]], Check]
    resumable: bool = True
    counts_steps: bool = True


@dataclass(frozen=True)
class Refused:
    """A candidate that was looked at and left out, and why. ``unsettled``: it may become complete by waiting."""

    step: int
    path: str
    reason: str
    unsettled: bool = False


@dataclass(frozen=True)
class Choice:
    """Where to resume. ``chosen_step`` is None when no complete step was found.

    ``refused`` are the newer ones, newest first. ``suspect``: it was written after the first evidence of corruption,
    since no complete step is older. ``doubts`` are what a person should know before trusting the order of steps.
    """

    chosen_step: int | None = None
    path: str = ""
    layout: str = ""
    refused: tuple[Refused, ...] = ()
    suspect: bool = False
    doubts: tuple[str, ...] = ()
    seen: int = 0  # candidates of all layouts, complete or not
