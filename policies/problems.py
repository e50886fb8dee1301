"""What is wrong with a policy, told to the person who wrote it: where, why, and what to write instead.

It must not know whether the policy came from a file or from the table.
"""

import re
from dataclasses import dataclass

_AT = re.compile(r"\.(\d{1,6})(?=\.|$)")
REASON_LIMIT = 300
PATH_LIMIT = 120


@dataclass(frozen=True)
class Problem:
    """One thing to mend. ``path`` is dotted (``count.within``, ``do.0``); empty means the whole document."""

    path: str
    reason: str
    hint: str = ""

    @classmethod
    def of(cls, path: str, reason: str, hint: str = "") -> "Problem":
        """Return a problem whose texts are short enough for a table cell, whatever junk they quote."""
        return cls(_short(path, PATH_LIMIT), _short(reason, REASON_LIMIT), _short(hint, REASON_LIMIT))

    def __str__(self) -> str:
        """Return one line: place, reason, hint."""
        return f"{place_of(self.path) or 'document'}: {self.reason} {self.hint}".strip()


def place_of(path: str) -> str:
    """Return *path* for people, who count what stands in a list from 1: ``do.0`` is ``do #1``."""
    return _AT.sub(lambda found: f" #{int(found[1]) + 1}", path)


def short_name(name: str) -> str:
    """Return the *name* of a policy as it may stand in a line: a key may be two kilobytes of anything."""
    return _short(name, PATH_LIMIT)


def _short(text: str, limit: int) -> str:
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
