"""Which facts a policy asked for: what they were, of what and how old that is, and which nobody knew.

Decides nothing: what a fact holds is asked of the very facts that judged. It must not read documents.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from policies.contract.events import FaultEvent, Scalar
from policies.expressions.members import NodeFacts
from policies.facts.registry import AGE
from policies.facts.snapshot import told


@dataclass(frozen=True)
class Known:
    """``values`` by member, ``age`` in seconds of the oldest document, ``unknown`` members.

    ``of_what`` says by member of what the value is, where that needs saying.
    """

    values: Mapping[str, Scalar]
    unknown: tuple[str, ...] = ()
    age: float | None = None
    of_what: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, asked: Sequence[str], values: Mapping[str, Scalar]) -> "Known":
        """Return what *values*, as a finding keeps them, say of the *asked* members."""
        mine = {member: value for member, value in values.items() if member != AGE}
        age = values.get(AGE)
        unknown = tuple(member for member in asked if member not in mine and member != AGE)
        return cls(mine, unknown, float(age) if isinstance(age, int | float) else None)

    def __str__(self) -> str:
        """Return them in one line."""
        old = "" if self.age is None else f" ({self.age:g} s old)"
        read = ", ".join(f"{member}{self._whose(member)} is {_said(value)}" for member, value in self.values.items())
        unknown = f"not known: {', '.join(self.unknown)}" if self.unknown else ""
        return f"facts{old}: " + "; ".join(filter(None, (read, unknown)))

    def document(self) -> dict[str, Any]:
        """Return it for machines."""
        return {
            "values": dict(self.values),
            "unknown": list(self.unknown),
            "age_seconds": self.age,
            "of_what": dict(self.of_what),
        }

    def _whose(self, member: str) -> str:
        return f" ({self.of_what[member]})" if member in self.of_what else ""


def known_of(asked: Sequence[str], event: FaultEvent | None, node: NodeFacts) -> Known | None:
    """Return what is known of the *asked* facts where *event* of *node* asks; None where nothing is asked."""
    if not asked or event is None:
        return None
    known = Known.of(asked, told(node.snapshot, asked, event, node.identity))
    told_of = {member: node.snapshot.of_what(member, event, node.identity) for member in known.values}
    return replace(known, of_what={member: what for member, what in told_of.items() if what})


def _said(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
