"""A condition of a policy, compiled once: `ask` says whether it holds for an event on a node.

Decides whether CEL is needed and hands it only the members the text names. It must not know policies; the text has
passed `checker.check`.
"""

from dataclasses import dataclass, field
from typing import Any

import cel

from policies.contract.events import FaultEvent
from policies.expressions.members import ROOTS, NodeFacts, Reader, is_member, reader_of
from policies.expressions.native import Term, read_conjunction
from policies.expressions.paths import paths
from policies.expressions.tokens import tokenise


@dataclass(frozen=True)
class Unanswered:
    """The condition can be neither affirmed nor denied: taken as no match, and reported."""

    path: str
    reason: str


@dataclass(frozen=True)
class Expression:
    """A compiled condition. ``program`` is None when the plain terms say everything."""

    text: str
    terms: tuple[tuple[Term, Reader], ...]
    program: "cel.Program | None" = field(repr=False, default=None)
    members: tuple[tuple[str, Reader], ...] = ()

    def ask(self, event: FaultEvent, node: NodeFacts) -> bool | Unanswered:
        """Say whether the condition holds; never raises."""
        missing = ""
        for term, read in self.terms:
            value = read(event, node)
            if value is None:
                missing = missing or term.path
            elif not term.holds(value):
                return False
        if self.program is not None:
            return self._ask_cel(self.program, event, node)
        return Unanswered(missing, "is not there") if missing else True

    def _ask_cel(self, program: "cel.Program", event: FaultEvent, node: NodeFacts) -> bool | Unanswered:
        context = self._context(event, node)
        try:
            answer = program.execute(context)
        except KeyError as error:
            return Unanswered(str(error.args[0]) if error.args else "", "is not there")
        except (RuntimeError, TypeError, ValueError, OverflowError, ArithmeticError) as error:
            return Unanswered("", f"failed: {str(error).splitlines()[0] if str(error) else type(error).__name__}"[:200])
        return (
            answer if isinstance(answer, bool) else Unanswered("", f"gives {type(answer).__name__}, not true or false")
        )

    def _context(self, event: FaultEvent, node: NodeFacts) -> dict[str, Any]:
        context: dict[str, Any] = {root: {} for root in ROOTS}
        for path, read in self.members:
            *branch, leaf = path.split(".")
            at = context
            for name in branch:
                at = at.setdefault(name, {})
            value = read(event, node)
            if value is not None:
                at[leaf] = value
        return context

    def discharge(self, known: dict[str, Any]) -> "Expression | None":
        """Return what is left to ask when these members are *known*; None when the answer is already no."""
        for term, _read in self.terms:
            if term.path in known and not term.holds(known[term.path]):
                return None
        left = tuple((term, read) for term, read in self.terms if term.path not in known)
        return Expression(self.text, left, self.program, self.members)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to ask: it holds."""
        return not self.terms and self.program is None


def compile_expression(text: str) -> Expression:
    """Return the compiled *text*, which `checker.check` found good; else ValueError."""
    tokens = tokenise(text)
    conjunction = read_conjunction(tokens)
    names = {path.member for path in paths(tokens) if is_member(path.member)}
    return Expression(
        text=text,
        terms=tuple((term, reader_of(term.path)) for term in conjunction.terms),
        program=None if conjunction.whole else cel.compile(text),
        members=tuple((name, reader_of(name)) for name in sorted(names)),
    )
