"""What a condition asks for, as alternatives of plain parts: can one of them ever be true, does one imply another?

Decides by what it understands only: a part that is not plain may be true or false, so that nothing is called impossible
that is not. It must not know policies.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from policies.expressions.members import WORDS, is_member
from policies.expressions.native import Term, read_alternatives
from policies.expressions.paths import closing, paths
from policies.expressions.tokens import NotAnExpressionError, Token, tokenise

MOST_BRANCHES = 128
Value = tuple[bool, str | int | bool]
"""An operand, with whether it is a flag: to Python True is 1, to CEL it is not."""


@dataclass(frozen=True)
class Bound:
    """``path op number``, with the member on the left."""

    path: str
    op: str
    number: float


Part = Term | Bound | str
"""A plain comparison, or the text of what is none."""


@dataclass(frozen=True)
class Branch:
    """One alternative: all its parts must hold."""

    parts: tuple[Part, ...]

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The plain comparisons with given values."""
        return tuple(part for part in self.parts if isinstance(part, Term))

    def allowed(self, path: str) -> frozenset[Value] | None:
        """Return the values that *path* is tied to, None when it may hold anything."""
        sets = [_values(term) for term in self.terms if term.path == path and not term.negated]
        if not sets:
            return None
        barred = [_values(term) for term in self.terms if term.path == path and term.negated]
        return frozenset.intersection(*sets) - frozenset().union(*barred)

    def texts(self, path: str) -> frozenset[str | int] | None:
        """Return the words or numbers that *path* is tied to, None when it may hold anything."""
        allowed = self.allowed(path)
        return None if allowed is None else frozenset(value for flag, value in allowed if not flag)

    @property
    def contradiction(self) -> str:
        """The member that cannot be what the parts ask for, empty when all of them can hold."""
        for path in dict.fromkeys(term.path for term in self.terms):
            if self.allowed(path) == frozenset():
                return path
        return next((path for path in self._bounded() if self._is_empty(path)), "")

    def _bounded(self) -> dict[str, list[Bound]]:
        found: dict[str, list[Bound]] = {}
        for part in self.parts:
            if isinstance(part, Bound):
                found.setdefault(part.path, []).append(part)
        return found

    def _is_empty(self, path: str) -> bool:
        bounds = self._bounded()[path]
        tied = self.texts(path)
        if tied is not None:
            return not any(all(_keeps(bound, value) for bound in bounds) for value in tied)
        low = max((bound.number for bound in bounds if bound.op in {">", ">="}), default=float("-inf"))
        high = min((bound.number for bound in bounds if bound.op in {"<", "<="}), default=float("inf"))
        touching = all(bound.op in {">=", "<="} for bound in bounds if bound.number == low)
        return low > high or (low == high and not touching)

    def with_(self, other: "Branch") -> "Branch":
        """Return the branch in which both hold."""
        return Branch((*self.parts, *other.parts))

    def implies(self, other: "Branch") -> bool:
        """Say whether *other* surely holds where this does."""
        return all(self._entails(part) for part in other.parts)

    def _entails(self, part: Part) -> bool:
        if part in self.parts:
            return True
        if not isinstance(part, Term):
            return False
        allowed = self.allowed(part.path)
        return allowed is not None and all(part.holds(value) for _flag, value in allowed)


def branches_of(text: str | None) -> tuple[Branch, ...]:
    """Return the alternatives of the condition *text*; none when there is no condition."""
    if text is None:
        return ()
    try:
        tokens = tokenise(text)
    except NotAnExpressionError:
        return (Branch((text,)),)
    return tuple(Branch(tuple(dict.fromkeys(parts))) for parts in _expand(tokens, negated=False))


def implies(condition: Sequence[Branch], other: Sequence[Branch]) -> bool:
    """Say whether *other* surely holds wherever *condition* does."""
    possible = [branch for branch in condition if not branch.contradiction]
    return bool(possible) and all(any(branch.implies(each) for each in other) for branch in possible)


def overlap(condition: Sequence[Branch], other: Sequence[Branch]) -> bool:
    """Say whether both may hold at once."""
    return any(not one.with_(two).contradiction for one in condition for two in other)


def text_of(tokens: Sequence[Token]) -> str:
    """Return *tokens* as a person writes them."""
    text = ""
    tight = True
    for token in tokens:
        joins = token.is_op(".", ")", "]", ",") or (token.is_op("(", "[") and _is_called(text, token))
        text += token.text if tight or joins else f" {token.text}"
        tight = token.is_op(".", "(", "[", "!")
    return text


def _is_called(before: str, token: Token) -> bool:
    word = before.rpartition(" ")[2]
    return (word[-1:].isalnum() and word != "in") or (word[-1:] in {"_", "]"} and token.is_op("["))


def _expand(tokens: Sequence[Token], *, negated: bool) -> list[tuple[Part, ...]]:
    tokens = _unwrap(tokens)
    if len(split(tokens, "?")) > 1:
        return [(_opaque(tokens, negated=negated),)]
    for joint, alternates in (("||", not negated), ("&&", negated)):
        parts = split(tokens, joint)
        if len(parts) > 1:
            inner = [_expand(part, negated=negated) for part in parts]
            return _either(inner, tokens) if alternates else _both(inner, tokens)
    if tokens and tokens[0].is_op("!") and _is_one(tokens[1:]):
        return _expand(tokens[1:], negated=not negated)
    return [(_leaf(tokens, negated=negated),)]


def _either(inner: list[list[tuple[Part, ...]]], tokens: Sequence[Token]) -> list[tuple[Part, ...]]:
    found = [branch for branches in inner for branch in branches]
    return found if len(found) <= MOST_BRANCHES else [(text_of(tokens),)]


def _both(inner: list[list[tuple[Part, ...]]], tokens: Sequence[Token]) -> list[tuple[Part, ...]]:
    size = 1
    for branches in inner:
        size *= len(branches)
    if size > MOST_BRANCHES:
        return [(text_of(tokens),)]
    return [tuple(part for branch in chosen for part in branch) for chosen in product(*inner)]


def _is_one(tokens: Sequence[Token]) -> bool:
    """Whether `!` before *tokens* negates all of them: it binds tighter than any comparison."""
    if tokens and tokens[0].is_op("("):
        return closing(tokens, 0) == len(tokens) - 1
    if tokens and tokens[0].is_op("!"):
        return _is_one(tokens[1:])
    found = next(paths(tokens), None)
    if found is None or found.start != 0:
        return False
    return (closing(tokens, found.end) + 1 if found.is_call else found.end) == len(tokens)


def _leaf(tokens: Sequence[Token], *, negated: bool) -> Part:
    (only, *more) = read_alternatives(tokens)
    term = only.terms[0] if not more and only.whole and len(only.terms) == 1 else _affix(tokens) or _flag(tokens)
    if term is not None:
        return replace(term, negated=term.negated is not negated)
    return _bound(tokens, negated=negated) or _opaque(tokens, negated=negated)


def _affix(tokens: Sequence[Token]) -> Term | None:
    """`event.kind.startsWith("gpu.")` ties the kind to those words."""
    found = next(paths(tokens), None)
    if found is None or found.start or not found.is_call or found.member not in WORDS or len(tokens) != found.end + 3:
        return None
    literal = tokens[found.end + 1].value
    tests = {"startsWith": str.startswith, "endsWith": str.endswith, "contains": str.__contains__}
    test = tests.get(found.called)
    if test is None or not isinstance(literal, str):
        return None
    words = frozenset(word for word in WORDS[found.member] if test(word, literal))
    return Term(found.member, negated=False, texts=words, flags=frozenset())


def _flag(tokens: Sequence[Token]) -> Term | None:
    """A member by itself asks for true."""
    found = next(paths(tokens), None)
    alone = found is not None and found.start == 0 and found.end == len(tokens) and is_member(found.text)
    if found is None or not alone:
        return None
    return Term(found.text, negated=False, texts=frozenset(), flags=frozenset({True}))


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_DENIED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _bound(tokens: Sequence[Token], *, negated: bool) -> Bound | None:
    for at, token in enumerate(tokens):
        if token.is_op(*_MIRRORED):
            left, right = tokens[:at], tokens[at + 1 :]
            for member, number, op in ((left, right, token.text), (right, left, _MIRRORED[token.text])):
                found, value = next(paths(member), None), _number(number)
                if found is not None and found.start == 0 and found.end == len(member) and value is not None:
                    return Bound(found.text, _DENIED[op] if negated else op, value)
    return None


def _number(tokens: Sequence[Token]) -> float | None:
    sign = -1.0 if tokens and tokens[0].is_op("-") else 1.0
    bare = tokens[1:] if sign < 0 else tokens
    return (
        sign * float(bare[0].text)
        if len(bare) == 1 and bare[0].kind in {"int", "float"} and bare[0].text[:2] != "0x"
        else None
    )


def _keeps(bound: Bound, value: str | int) -> bool:
    if isinstance(value, str):
        return True
    return {"<": value < bound.number, "<=": value <= bound.number, ">": value > bound.number}.get(
        bound.op, value >= bound.number
    )


def _opaque(tokens: Sequence[Token], *, negated: bool) -> str:
    return f"!({text_of(tokens)})" if negated else text_of(tokens)


def _values(term: Term) -> frozenset[Value]:
    return frozenset({*((False, one) for one in term.texts), *((True, one) for one in term.flags)})


def _unwrap(tokens: Sequence[Token]) -> Sequence[Token]:
    while tokens and tokens[0].is_op("(") and closing(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return tokens


def split(tokens: Sequence[Token], joint: str) -> list[Sequence[Token]]:
    """Return the parts of *tokens* between the operators *joint*, outside of any brackets."""
    return list(_split(tokens, joint))


def _split(tokens: Sequence[Token], joint: str) -> Iterator[Sequence[Token]]:
    depth = start = 0
    for at, token in enumerate(tokens):
        depth += token.is_op("(", "[", "{") - token.is_op(")", "]", "}")
        if depth == 0 and token.is_op(joint):
            yield tokens[start:at]
            start = at + 1
    yield tokens[start:]
