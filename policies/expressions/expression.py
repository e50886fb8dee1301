"""A condition of a policy, compiled once: `ask` says whether it holds for an event on a node.

Decides whether CEL is needed and hands it only the members the text names. It must not know policies; the text has
passed `checker.check`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cel

from policies.contract.events import FaultEvent
from policies.expressions.members import ROOTS, NodeFacts, Reader, is_member, reader_of
from policies.expressions.native import Term, read_alternatives
from policies.expressions.paths import paths
from policies.expressions.tokens import tokenise


@dataclass(frozen=True)
class Unanswered:
    """The condition can be neither affirmed nor denied: taken as no match, and reported."""

    path: str
    reason: str


Terms = tuple[tuple[Term, Reader], ...]


@dataclass(frozen=True)
class Expression:
    """A compiled condition: it holds only if all terms of one of the ``alternatives`` do.

    ``program`` is None when these plain terms say everything; else CEL answers what they do not deny.
    """

    text: str
    alternatives: tuple[Terms, ...]
    program: "cel.Program | None" = field(repr=False, default=None)
    members: tuple[tuple[str, Reader], ...] = ()

    def ask(self, event: FaultEvent, node: NodeFacts) -> bool | Unanswered:
        """Say whether the condition holds; never raises."""
        is_open, missing = False, ""
        for terms in self.alternatives:
            absent = _absent(terms, event, node)
            if absent is not None:
                is_open, missing = True, missing or absent
                if not absent and self.program is None:
                    return True
        if is_open and self.program is not None:
            return self._ask_cel(self.program, event, node)
        return Unanswered(missing, "is not there") if is_open else False

    def _ask_cel(self, program: "cel.Program", event: FaultEvent, node: NodeFacts) -> bool | Unanswered:
        context = self._context(event, node)
        try:
            answer = program.execute(context)
        except KeyError as error:
            return Unanswered(str(error.args[0]) if error.args else "", "is not there")
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - CEL is Rust: a panic is no Exception; one policy must stop none
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

    def discharge(self, known: Mapping[str, Any]) -> "Expression | None":
        """Return what is left to ask when these members are *known*; None when the answer is already no."""
        left = tuple(
            tuple((term, read) for term, read in terms if term.path not in known)
            for terms in self.alternatives
            if all(term.holds(known[term.path]) for term, _read in terms if term.path in known)
        )
        return Expression(self.text, left, self.program, self.members) if left else None

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to ask: it holds."""
        return () in self.alternatives and self.program is None


def _absent(terms: Terms, event: FaultEvent, node: NodeFacts) -> str | None:
    """Return None when one of *terms* is false, else the first member they miss, else nothing: they hold."""
    absent = ""
    for term, read in terms:
        value = read(event, node)
        if value is None:
            if not term.is_presence:
                absent = absent or term.path
            elif not term.negated:
                return None
        elif not term.holds(value):
            return None
    return absent


def compile_expression(text: str) -> Expression:
    """Return the compiled *text*, which `checker.check` found good; else ValueError."""
    tokens = tokenise(text)
    alternatives = read_alternatives(tokens)
    names = {path.member for path in paths(tokens) if is_member(path.member)}
    return Expression(
        text=text,
        alternatives=tuple(tuple((term, reader_of(term.path, names)) for term in one.asked) for one in alternatives),
        program=None if all(one.whole for one in alternatives) else cel.compile(text),
        members=tuple((name, reader_of(name, names)) for name in sorted(names)),
    )
