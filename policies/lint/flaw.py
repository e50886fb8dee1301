"""One mistake that lint found: its code, where it is, why it is one, and what to write instead."""

from dataclasses import dataclass, replace
from typing import Any

from policies.lint.codes import CODES, Level
from policies.problems import Problem


@dataclass(frozen=True)
class Flaw:
    """``path`` is dotted (``count.within``), empty for the whole document; ``line`` counts from 1, 0 when unknown."""

    code: str
    path: str
    reason: str
    hint: str = ""
    file: str = ""
    line: int = 0

    @classmethod
    def of(cls, code: str, path: str, reason: str, hint: str = "") -> "Flaw":
        """Return a flaw whose texts are short enough for one line of a terminal, whatever they quote."""
        bounded = Problem.of(path, reason, hint)
        return cls(code, bounded.path, bounded.reason, bounded.hint)

    @property
    def level(self) -> Level:
        """How grave it is."""
        return CODES[self.code].level

    def at(self, file: str, line: int) -> "Flaw":
        """Return the flaw with its place."""
        return replace(self, file=file, line=line)

    def document(self) -> dict[str, Any]:
        """Return it for machines."""
        place = {"file": self.file, "line": self.line, "path": self.path}
        return {"code": self.code, "level": self.level.value, **place, "reason": self.reason, "hint": self.hint}

    def __str__(self) -> str:
        """Return one line: place, code, level, path, reason, hint."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        told = f"{self.code} {self.level}: {Problem(self.path, self.reason, self.hint)}"
        return f"{place}: {told}" if place else told
