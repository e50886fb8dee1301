"""What one check of `relight agent check` found."""

from dataclasses import dataclass
from typing import Literal

State = Literal["works", "not_here", "not_allowed", "fails"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: whether it is well, what was found, and what to do if not.

    ``is_here`` False: there is nothing of this kind on this node, which is no failure. ``allowed`` False: there is, and
    this process may not see it; a failure only where ``ok`` is False too.
    """

    name: str
    ok: bool
    found: str
    hint: str = ""
    is_here: bool = True
    allowed: bool = True

    @property
    def state(self) -> State:
        """Under which heading it is shown."""
        if not self.allowed:
            return "not_allowed"
        if not self.ok:
            return "fails"
        return "works" if self.is_here else "not_here"
