"""Tells where a member that holds a number, or true or false, is taken for something else: that is never answered.

Decides by the tokens right beside the member (CEL language definition: numbers compare with numbers only, `&&` and `||`
take true and false only). It must not know what else may be wrong.
"""

from collections.abc import Iterator, Sequence

from policies.expressions.members import FLAGS, NUMBERS
from policies.expressions.paths import Path, paths
from policies.expressions.tokens import Token

_EQUAL, _ORDERED, _SUMS = ("==", "!="), ("<", "<=", ">", ">="), ("+", "-", "*", "/", "%")
_JOINTS = ("&&", "||")
_TRUTHS = frozenset({"true", "false"})
_FIGURES = frozenset({"int", "uint", "float"})


def wrong_operands(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Yield reason and hint of each member in *tokens* that is used as what it does not hold."""
    for path in paths(tokens):
        if path.member in NUMBERS:
            yield from _number(path, tokens)
        elif path.member in FLAGS:
            yield from _flag(path, tokens)


def _number(path: Path, tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    if path.is_call:
        yield f"{path.member} holds a number; it has no {path.called}.", "Compare it: == < > in [...]."
    elif _is_a_condition(path, tokens):
        yield f"{path.member} holds a number; by itself it is neither true nor false.", "Compare it: `> 0`."
    for operand in _operands(path, tokens):
        if operand.kind == "name" and operand.text in _TRUTHS:
            yield f"{path.member} holds a number, never {operand.text}.", "Compare it with a number."


def _flag(path: Path, tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    if path.is_call or _operator(path, tokens, _ORDERED + _SUMS):
        yield f"{path.member} is true or false and nothing else.", f"Write {path.member} or !{path.member}."
    for operand in _operands(path, tokens):
        if operand.kind == "string" or operand.kind in _FIGURES:
            yield f"{path.member} is true or false, never {operand.text}.", f"Write {path.member} or !{path.member}."


def _is_a_condition(path: Path, tokens: Sequence[Token]) -> bool:
    before = tokens[path.start - 1] if path.start else None
    after = tokens[path.end] if path.end < len(tokens) else None
    begins = before is None or before.is_op(*_JOINTS, "!")
    return begins and (after is None or after.is_op(*_JOINTS))


def _operator(path: Path, tokens: Sequence[Token], words: tuple[str, ...]) -> bool:
    sides = (path.start - 1, path.end)
    return any(0 <= at < len(tokens) and tokens[at].is_op(*words) for at in sides)


def _operands(path: Path, tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield what is compared with *path*: beside an operator, or in a list."""
    after = path.end
    if after + 1 < len(tokens) and tokens[after].is_op(*_EQUAL, *_ORDERED):
        yield tokens[after + 1]
    elif after + 1 < len(tokens) and tokens[after].is_op("in") and tokens[after + 1].is_op("["):
        for token in tokens[after + 2 :]:
            if token.is_op("]"):
                break
            yield token
    if path.start > 1 and tokens[path.start - 1].is_op(*_EQUAL, *_ORDERED):
        yield tokens[path.start - 2]
