"""What became of reading the archive: how much was read, and what could not be.

It must not read anything. Of what is wrong the first are kept by name, all are counted: a broken archive of a year must
not fill memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from typing import Any

from policies.contract.archive import BadLine

MOST_KEPT = 100


@dataclass
class Told:
    """Adds up while reading. ``size``: bytes as they lie there, ``text``: as they read, ``bad``: the first of all."""

    objects: int = 0
    size: int = 0
    text: int = 0
    lines: int = 0
    repeated: int = 0
    wrong: int = 0
    bad: list[BadLine] = field(default_factory=list)
    _day: date | None = field(default=None, compare=False, repr=False)
    _before: "Told | None" = field(default=None, compare=False, repr=False)

    def open(self, first: datetime) -> None:
        """Note that an object is opened whose first line is of *first*; they are opened in this order."""
        if self._day is None or first.date() > self._day:
            self._before = replace(self, bad=[*self.bad], _before=None)
            self._day = first.date()
        self.objects += 1

    def until(self, midnight: datetime) -> dict[str, Any]:
        """Return what was read of the days before *midnight*, by name: who goes on from there reads the rest again."""
        told = self._before if self._before and self._day == midnight.date() else self
        return {each.name: getattr(told, each.name) for each in fields(told) if each.compare}

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Take back what `until` returned, in whatever form JSON left it."""
        for name, value in kept.items():
            setattr(self, name, [BadLine(*one) for one in value] if name == "bad" else value)

    def refuse(self, bad: BadLine) -> None:
        """Note a line, or the rest of an object (line 0: the object), that cannot be read."""
        self.wrong += 1
        if len(self.bad) < MOST_KEPT:
            self.bad.append(bad)

    def join(self, other: "Told") -> None:
        """Take over what *other* could not read."""
        self.wrong += other.wrong
        self.bad += other.bad[: max(MOST_KEPT - len(self.bad), 0)]
