"""Mistakes of single comparisons and text tests, where CEL does something else than its reader thinks.

Decides by the tokens of a condition. Sources: CEL language definition, "Overflow and numeric semantics" (no coercion
in arithmetic; comparisons across int and double hold), RE2 (a match is a search: it is anchored nowhere).
"""

import re
from collections.abc import Iterator, Sequence

import cel

from policies.contract.events import MESSAGE_LIMIT_BYTES
from policies.expressions.members import ATTRIBUTE_ROOT, NUMBERS, WORDS
from policies.expressions.paths import Path, paths
from policies.expressions.tokens import Token
from policies.facts.fact import FactType
from policies.facts.registry import FACTS
from policies.lint.flaw import Flaw
from policies.lint.reading import Reading

_ORDERED = ("<", "<=", ">", ">=")
_SUMS = ("+", "-", "*", "/", "%")
_TESTS = frozenset({"contains", "startsWith", "endsWith", "matches"})
# Other numbers (a temperature, seconds) may have a fraction.
_WHOLE = frozenset(
    {
        *("event.count", "event.component.index", "event.component.link", "event.attributes.xid"),
        *("event.attributes.sxid", "job.rank", "job.step", "job.epoch"),
        *(member for member, fact in FACTS.items() if fact.type is FactType.WHOLE),
    }
)
_PROBES = ("", "a", "NVRM: Xid (PCI:0000:53:00): 79, pid=1", "\x01 %")
# What stands before the text in a log file, and not in the record that an agent reads: "[  123.456789] ", "kernel: ".
_PREFIX = re.compile(r"\[ *\d+\.\d+\]|\bkernel: ?")


def operator_flaws(read: Reading) -> Iterator[Flaw]:
    """Yield what is wrong with single comparisons of *read*."""
    for field, tokens in read.tokens:
        for path in paths(tokens):
            for code, reason, hint in _of_path(path, tokens):
                yield Flaw.of(code, field, reason, hint)


def _of_path(path: Path, tokens: Sequence[Token]) -> Iterator[tuple[str, str, str]]:
    if path.is_call:
        if path.called in _TESTS:
            yield from _text_test(path, tokens[path.end + 1 : path.end + 3])
        return
    op, operand = _beside(path, tokens)
    if path.member in WORDS and op in _ORDERED:
        yield (
            "L216",
            f"{path.member} is text: `{op}` compares letters, and critical comes before error.",
            "Name the words: `in [...]`.",
        )
    yield from _numbers(path, op, operand)
    if path.member == "event.message" and op == "==":
        yield "L219", f"a message is cut at {MESSAGE_LIMIT_BYTES} bytes, and a driver rewords it.", "Use contains."


def _beside(path: Path, tokens: Sequence[Token]) -> tuple[str, Token | None]:
    """Return the operator beside *path*, and the one token on its other side."""
    if path.end < len(tokens) and tokens[path.end].is_op("==", "!=", *_ORDERED, *_SUMS, "in"):
        at = path.end + (2 if tokens[path.end].is_op("in") else 1)  # the first of a list
        return tokens[path.end].text, tokens[at] if at < len(tokens) else None
    if path.start > 1 and tokens[path.start - 1].is_op("==", "!=", *_ORDERED, *_SUMS):
        return tokens[path.start - 1].text, tokens[path.start - 2]
    return "", None


def _numbers(path: Path, op: str, operand: Token | None) -> Iterator[tuple[str, str, str]]:
    if operand is None:
        return
    whole = path.member in _WHOLE
    if operand.kind == "float" and op in {"==", "in"} and (whole or path.member.startswith(ATTRIBUTE_ROOT)):
        if whole and not float(operand.text).is_integer():
            yield "L218", f"{path.member} is a whole number, never {operand.text}.", "Write a whole number."
        elif not whole:
            yield "L218", f"a measured {path.member} is hardly ever exactly {operand.text}.", "Use >= or <=."
    if operand.kind == "float" and op in _SUMS and whole:
        yield (
            "L218",
            f"CEL does not reckon a whole number with {operand.text}; it is unanswered.",
            f"Write double({path.member}).",
        )
    if operand.kind == "string" and op in _ORDERED and path.member in NUMBERS:
        yield "L218", f"{path.member} is a number; compared with text it is unanswered.", "Leave the quotes out."


def _text_test(path: Path, argument: Sequence[Token]) -> Iterator[tuple[str, str, str]]:
    if len(argument) < 2 or argument[0].kind != "string" or not argument[1].is_op(")"):  # noqa: PLR2004 - a literal and the bracket
        return
    literal = argument[0].text
    if _passes_everything(path.called, literal):
        yield "L217", f"{path.called}({literal}) is true of every text.", "Leave it out, or say what to look for."
    if path.member == "event.message":
        yield from _message(path.called, literal)


def _passes_everything(method: str, literal: str) -> bool:
    try:
        return all(cel.evaluate(f"text.{method}({literal})", {"text": probe}) for probe in _PROBES)
    except (ValueError, RuntimeError, TypeError):
        return False


def _message(method: str, literal: str) -> Iterator[tuple[str, str, str]]:
    inner = literal.rstrip("'\"")
    if method == "endsWith" or (method == "matches" and inner.endswith("$") and not inner.endswith("\\$")):
        yield "L219", f"the end of a message may be cut away ({MESSAGE_LIMIT_BYTES} bytes).", "Use contains."
    if _PREFIX.search(literal):
        yield "L219", "agents read records without the prefix of a log file (time, `kernel:`).", "Leave it out."
