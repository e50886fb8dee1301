"""Finds in a row of tokens the members it reads, the functions it calls and the macros it uses.

Decides what each name in an expression is: a member path, a function, a method, a macro or a macro's own variable. It
must not know which of them exist.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from policies.expressions.tokens import Token

MACROS = frozenset({"all", "exists", "exists_one", "filter", "map"})
_CONSTANTS = frozenset({"true", "false", "null"})


@dataclass(frozen=True)
class Macro:
    """One comprehension: its word, its variable ("" when it has none) and the tokens between its parentheses."""

    word: str
    variable: str
    start: int
    end: int


@dataclass(frozen=True)
class Path:
    """One chain of names (``event.attributes.xid``) and the tokens it spans; ``is_call``: its last name is called."""

    text: str
    start: int
    end: int
    is_call: bool

    @property
    def member(self) -> str:
        """What is read: the chain without the method called on it; empty for a plain function (`size(…)`)."""
        return self.text.rpartition(".")[0] if self.is_call else self.text

    @property
    def called(self) -> str:
        """The function or method that is called, if any."""
        return self.text.rpartition(".")[2] if self.is_call else ""


def macros(tokens: Sequence[Token]) -> list[Macro]:
    """Return the comprehensions in *tokens* in the order in which they begin."""
    found: list[Macro] = []
    for at, token in enumerate(tokens):
        called = at + 1 < len(tokens) and tokens[at + 1].is_op("(")
        if token.kind == "name" and token.text in MACROS and called and at and tokens[at - 1].is_op("."):
            end = closing(tokens, at + 1)
            first = tokens[at + 2] if at + 2 < end else None
            found.append(Macro(token.text, first.text if first and first.kind == "name" else "", at + 1, end))
    return found


def closing(tokens: Sequence[Token], start: int) -> int:
    """Return where the parenthesis that opens at *start* closes, or the end when it never does."""
    depth = 0
    for at in range(start, len(tokens)):
        depth += tokens[at].is_op("(", "[", "{") - tokens[at].is_op(")", "]", "}")
        if depth == 0:
            return at
    return len(tokens)


def paths(tokens: Sequence[Token]) -> Iterator[Path]:
    """Yield the chains of names that begin with a free name: no macro's variable, no constant, no method."""
    bound = [(macro.variable, macro.start, macro.end) for macro in macros(tokens) if macro.variable]
    at = 0
    while at < len(tokens):
        token = tokens[at]
        starts = token.kind == "name" and not (at and tokens[at - 1].is_op("."))
        hidden = any(name == token.text and start < at < end for name, start, end in bound)
        if not starts or hidden or token.text in _CONSTANTS:
            at += 1
            continue
        path = _chain(tokens, at)
        yield path
        at = path.end


def _chain(tokens: Sequence[Token], start: int) -> Path:
    names, at = [tokens[start].text], start + 1
    while at + 1 < len(tokens):
        if tokens[at].is_op(".") and tokens[at + 1].kind == "name":
            names.append(tokens[at + 1].text)
            at += 2
        elif _is_name_in_brackets(tokens[at : at + 3]):
            names.append(str(tokens[at + 1].value))
            at += 3
        else:
            break
    return Path(".".join(names), start, at, is_call=at < len(tokens) and tokens[at].is_op("("))


def _is_name_in_brackets(tokens: Sequence[Token]) -> bool:
    shape = [token.text if token.kind == "op" else token.kind for token in tokens]
    return shape == ["[", "string", "]"] and tokens[1].value is not None
