"""What one check of `relight agent check` found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: whether it is well, what was found, and what to do if not."""

    name: str
    ok: bool
    found: str
    hint: str = ""
