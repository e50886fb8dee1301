"""What became of reading the archive: how much was read, and what could not be.

It must not read anything. Of what is wrong the first are kept by name, all are counted: a broken archive of a year must
not fill memory.
"""

from dataclasses import dataclass, field

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

    def refuse(self, bad: BadLine) -> None:
        """Note a line, or the rest of an object (line 0: the object), that cannot be read."""
        self.wrong += 1
        if len(self.bad) < MOST_KEPT:
            self.bad.append(bad)

    def join(self, other: "Told") -> None:
        """Take over what *other* could not read."""
        self.wrong += other.wrong
        self.bad += other.bad[: max(MOST_KEPT - len(self.bad), 0)]
