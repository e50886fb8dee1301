"""Answers plain conditions (`has(a) && a == 1 && b in ["x"] || !has(c)`) without CEL, with the same answers.

Decides which terms of an expression are plain and what they say. A missing member is no answer; as in CEL, one false
term makes a conjunction false even then, and one true alternative the whole true. A property test holds it against CEL.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any, Literal

from policies.expressions.members import LISTS, is_member
from policies.expressions.paths import closing, paths
from policies.expressions.tokens import Token
from policies.facts.registry import NUMBERS as FACT_NUMBERS

_ORDERS: Mapping[str, Callable[[float, int], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
LARGEST_EXACT = 2**53  # beyond it CEL compares ints with doubles by rounding, Python exactly
Literals = str | int | bool


@dataclass(frozen=True)
class Term:
    """One plain comparison of a member. ``texts`` (strings and numbers) and ``flags`` (booleans) are the operands."""

    path: str
    negated: bool
    texts: frozenset[str | int]
    flags: frozenset[bool]
    is_presence: bool = False

    def holds(self, value: Any) -> bool:  # noqa: ANN401 - a member may hold any scalar
        """Say whether the member, which is there, fulfils the term. As in CEL, True is not 1, but 79.0 is 79."""
        if self.is_presence:
            return not self.negated
        found = value in self.flags if isinstance(value, bool) else value in self.texts
        return found is not self.negated


@dataclass(frozen=True)
class Bound(Term):
    """A number of which one knows that it is one, a fact, compared with a whole number: ``path op number``."""

    op: str = "<"
    number: int = 0

    def holds(self, value: Any) -> bool:  # noqa: ANN401 - as above
        """Say whether the member, which is there, keeps the bound."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return _ORDERS[self.op](value, self.number)


@dataclass(frozen=True)
class Conjunction:
    """The plain comparisons of one alternative, and the members it asks to be there; ``whole`` when that is all."""

    terms: tuple[Term, ...]
    whole: bool
    present: tuple[Term, ...] = ()
    bounds: tuple[Bound, ...] = ()

    @property
    def asked(self) -> tuple[Term, ...]:
        """All that can be answered plainly."""
        return (*self.terms, *self.present, *self.bounds)


def read_alternatives(tokens: Sequence[Token]) -> tuple[Conjunction, ...]:
    """Return what *tokens* joins by `||` at its top, one conjunction each; it holds only if one of them does."""
    bare = _unwrap(tokens)
    if len(_split(bare, "?")) > 1:  # binds weaker than `||`
        return (Conjunction((), whole=False),)
    return tuple(_read_conjunction(_unwrap(part)) for part in _split(bare, "||"))


def _read_conjunction(tokens: Sequence[Token]) -> Conjunction:
    """Return the plain terms that *tokens* joins by `&&` at its top; none when it is joined otherwise."""
    if len(_split(tokens, "||", "?")) > 1:
        return Conjunction((), whole=False)
    parts = _split(tokens, "&&")
    terms = [_term(part) for part in parts]
    plain = tuple(term for term in terms if term is not None)
    present = tuple(term for part in parts if (term := _presence(part)) is not None)
    bounds = tuple(bound for part in parts if (bound := _bound(part)) is not None)
    return Conjunction(plain, len(plain) + len(present) + len(bounds) == len(parts), present, bounds)


def _unwrap(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return *tokens* without brackets around all of them."""
    while tokens and tokens[0].is_op("(") and closing(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return tokens


def _split(tokens: Sequence[Token], *joints: str) -> list[Sequence[Token]]:
    """Return the parts of *tokens* between those operators, outside of any brackets."""
    parts: list[Sequence[Token]] = []
    depth = start = 0
    for at, token in enumerate(tokens):
        depth += token.is_op("(", "[", "{") - token.is_op(")", "]", "}")
        if depth == 0 and token.is_op(*joints):
            parts.append(tokens[start:at])
            start = at + 1
    return [*parts, tokens[start:]]


def _presence(tokens: Sequence[Token]) -> Term | None:
    """Return the term of `has(member)` or `!has(member)`, which is answered whether the member is there or not."""
    negated = len(tokens) > 0 and tokens[0].is_op("!")
    tokens = tokens[1:] if negated else tokens
    called = len(tokens) > 1 and tokens[0].kind == "name" and tokens[0].text == "has" and tokens[1].is_op("(")
    path = _member(tokens[2:-1]) if called and closing(tokens, 1) == len(tokens) - 1 else None
    return None if path is None else Term(path, negated, texts=frozenset(), flags=frozenset(), is_presence=True)


def _term(tokens: Sequence[Token]) -> Term | None:
    for at, token in enumerate(tokens):
        if token.is_op("==", "!="):
            return _equality(tokens[:at], tokens[at + 1 :], negated=token.text == "!=")
        if token.is_op("in"):
            return _membership(tokens[:at], tokens[at + 1 :])
    return None


def _bound(tokens: Sequence[Token]) -> Bound | None:
    """Return the bound that *tokens* set to a fact; what an event brings may be a text, and is left to CEL."""
    for at, token in enumerate(tokens):
        if token.is_op(*_ORDERS):
            left, right = tokens[:at], tokens[at + 1 :]
            for member, literal, op in ((left, right, token.text), (right, left, _TURNED[token.text])):
                path, number = _member(member), _literal(literal)
                if path in FACT_NUMBERS and type(number) is int:
                    return Bound(path, negated=False, texts=frozenset(), flags=frozenset(), op=op, number=number)
    return None


def _equality(left: Sequence[Token], right: Sequence[Token], *, negated: bool) -> Term | None:
    for one, other in ((left, right), (right, left)):
        path, operand = _member(one), _literal(other)
        if path is not None and operand is not None:
            return _build(path, [operand], negated=negated)
    return None


def _membership(left: Sequence[Token], right: Sequence[Token]) -> Term | None:
    path = _member(left)
    brackets = len(right) > 1 and right[0].is_op("[") and right[-1].is_op("]")
    if path is None or not brackets:
        return None
    operands = _list(right[1:-1])
    return None if operands is None else _build(path, operands, negated=False)


def _list(tokens: Sequence[Token]) -> list[Literals] | None:
    operands: list[Literals] = []
    start = 0
    for at in range(len(tokens) + 1):
        if at == len(tokens) or tokens[at].is_op(","):
            operand = _literal(tokens[start:at])
            if operand is None:
                return None
            operands.append(operand)
            start = at + 1
    return operands


def _member(tokens: Sequence[Token]) -> str | None:
    found = list(paths(tokens))
    alone = len(found) == 1 and found[0].start == 0 and found[0].end == len(tokens)
    plain = alone and is_member(found[0].text) and found[0].text not in LISTS
    return found[0].text if plain else None


def _literal(tokens: Sequence[Token]) -> Literals | None:
    sign: Literal[1, -1] = 1
    if len(tokens) == 2 and tokens[0].is_op("-") and tokens[1].kind == "int":  # noqa: PLR2004 - a sign and its number
        sign, tokens = -1, tokens[1:]
    if len(tokens) != 1:
        return None
    (token,) = tokens
    if token.kind == "name" and token.text in {"true", "false"}:
        return token.text == "true"
    if token.kind == "int" and isinstance(token.value, int) and token.value <= LARGEST_EXACT:
        return sign * token.value
    return token.value if token.kind == "string" and isinstance(token.value, str) else None


def _build(path: str, operands: Sequence[Literals], *, negated: bool) -> Term:
    flags = frozenset(one for one in operands if isinstance(one, bool))
    texts = frozenset(one for one in operands if not isinstance(one, bool))
    return Term(path, negated, texts, flags)
