"""Which policies judge an event that a person asks about: those of files, or those in force in a table.

Decides what is said of where they come from: an answer by files is none about what is in force. It must not judge.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from console.policy.account import in_force
from console.policy.files import NO_FILES, files_of, read
from console.saying import say
from policies.contract.errors import BadInputError
from policies.coordination.switches import ALL_ACTIVE, Switches
from policies.loader import load_text
from policies.model import Policy
from policies.rulebook import AcceptedPolicy

if TYPE_CHECKING:
    from functions.ports.coordination import SwitchReader
    from functions.ports.policies import PolicyHeads

CURRENT = "current"  # as `relight policy backtest --policies current` has it


@dataclass(frozen=True)
class Judges:
    """``accepted`` policies and the switches over them; ``table`` is empty of files, and ``files`` of a table."""

    accepted: Sequence[AcceptedPolicy]
    files: Sequence[str] = ()
    table: str = ""
    switches: Switches = ALL_ACTIVE

    def __str__(self) -> str:
        """Return the line for people."""
        number = f"{len(self.accepted)} policies" if len(self.accepted) != 1 else "1 policy"
        if self.table:
            return f"judged by {number} in force, of the table {self.table}"
        files = f"judged by {number} in files, {', '.join(self.files)}"
        return f"{files}; by those in force: --policies {CURRENT}"

    def document(self) -> dict[str, object]:
        """Return it for machines."""
        return {"policies": len(self.accepted), "files": list(self.files), "table": self.table or None}


def of_files(paths: Sequence[Path]) -> Judges:
    """Return the policies in *paths*; BadInputError when there is none."""
    found = []
    for written in read(files_of(paths)):
        loaded = load_text(written.text, try_examples=False)
        if isinstance(loaded, Policy):
            found.append(AcceptedPolicy(loaded, 1, "file"))
        else:
            say(f"{written.name}: left out: {loaded[0]}", file=sys.stderr)
    if not found:
        raise BadInputError(NO_FILES, hint="Name a folder with --policies.")
    return Judges(found, files=[_near(path) for path in paths])


def of_table(heads: "PolicyHeads", switches: "SwitchReader", table: str) -> Judges:
    """Return the policies in force in *table*; BadInputError when there is none."""
    accepted = in_force(heads)
    if not accepted:
        raise BadInputError(
            f"no policy is in force in the table {table}.", hint="`relight policy push` puts some there."
        )
    return Judges(accepted, table=table, switches=switches.read([one.policy.name for one in accepted]))


def _near(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
