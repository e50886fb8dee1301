"""Tells a person what is wrong with an expression before it ever meets an event.

Decides what an expression may use: known members and words, known functions, a bounded length, few macros and none
inside another (four nested ones over 40 items take a second). It must not evaluate it on events.
"""

from collections.abc import Iterable, Iterator, Sequence

import cel

from policies.expressions.attributes import ATTRIBUTES
from policies.expressions.members import ATTRIBUTE_ROOT, MEMBERS, NUMBERS, ROOTS, WORDS, is_member
from policies.expressions.native import read_alternatives
from policies.expressions.operands import wrong_operands
from policies.expressions.paths import MACROS, Path, closing, macros, paths
from policies.expressions.tokens import NotAnExpressionError, Token, tokenise
from policies.problems import Problem
from policies.similar import similar

LONGEST = 1000
MOST_MACROS = 2
DEEPEST = 20  # brackets within brackets; a person cannot read more, and CEL's own parser gives up somewhere
FUNCTIONS = frozenset({"has", "size", "int", "uint", "double", "string", "duration"})
METHODS = frozenset({"contains", "startsWith", "endsWith", "matches", "size"})


def check(text: str, field: str) -> list[Problem]:
    """Return what is wrong with *text*, the policy's *field*; an empty list means it can be compiled."""
    if len(text) > LONGEST:
        return [Problem.of(field, f"has {len(text)} characters; at most {LONGEST} are allowed.", "Split the policy.")]
    try:
        tokens = tokenise(text)
    except NotAnExpressionError as error:
        return [Problem.of(field, f"{error}.", 'Write CEL, for example: event.kind == "gpu.xid".')]
    problems = [*_shape(tokens), *_names(tokens), *_words(tokens), *wrong_operands(tokens), *_patterns(tokens)]
    return [Problem.of(field, reason, hint) for reason, hint in problems] or _syntax(text, field)


def _shape(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    depth = deepest = 0
    for token in tokens:
        depth += token.is_op("(", "[", "{") - token.is_op(")", "]", "}")
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        yield f"nests brackets {deepest} deep; at most {DEEPEST}.", "Simplify it."
    found = macros(tokens)
    if len(found) > MOST_MACROS:
        yield f"uses {len(found)} macros ({', '.join(one.word for one in found)}); at most {MOST_MACROS}.", "Use `in`."
    if any(outer.start < inner.start < outer.end for outer in found for inner in found):
        yield "has a macro inside a macro.", "Its cost multiplies; write two policies or use `in`."


def _names(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for path in paths(tokens):
        if path.is_call and path.called not in (METHODS | MACROS if path.member else FUNCTIONS):
            yield f"calls {path.called}, which is not known.", f"Known: {_listing(METHODS | FUNCTIONS)}."
        if path.member and not is_member(path.member):
            yield _unknown(path.member)
    for at, token in enumerate(tokens[:-1]):
        literal_method = at > 1 and tokens[at - 1].is_op(".") and tokens[at - 2].kind != "name"
        if literal_method and token.kind == "name" and tokens[at + 1].is_op("(") and token.text not in METHODS | MACROS:
            yield f"calls {token.text}, which is not known.", f"Known: {_listing(METHODS)}."
    yield from _attributes(tokens)


def _unknown(path: str) -> tuple[str, str]:
    if path.startswith("event.job"):
        return f"{path} is not known.", f"Write {path.replace('event.job', 'job', 1)}."
    inner = sorted(name for name in MEMBERS if name.startswith(f"{path}."))
    if inner or f"{path}." == ATTRIBUTE_ROOT:
        return f"{path} is not a single value.", f"Name a member: {_listing(inner) or 'event.attributes.<name>'}."
    if path.partition(".")[0] not in ROOTS:
        return f"{path} is not known.", f"Expressions read {_listing(ROOTS)}; text stands in quotes."
    return f"{path} is not known.", _closest(path, MEMBERS)


def _attributes(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Where `event.kind` is pinned to kinds with fixed attributes, another attribute is a slip."""
    kinds = pinned(tokens, "event.kind")
    if not kinds or not all(kind in ATTRIBUTES for kind in kinds):
        return
    known = frozenset().union(*(ATTRIBUTES[str(kind)] for kind in kinds))
    for path in paths(tokens):
        name = path.member.removeprefix(ATTRIBUTE_ROOT)
        if path.member.startswith(ATTRIBUTE_ROOT) and name not in known:
            yield f"{_listing(map(str, kinds))} has no attribute {name}.", _closest(name, known)


def pinned(tokens: Sequence[Token], path: str) -> frozenset[str | int]:
    """Return the values to which each alternative ties *path* by a term; empty when it may hold anything."""
    values: frozenset[str | int] = frozenset()
    for alternative in read_alternatives(tokens):
        tied = [term.texts for term in alternative.terms if term.path == path and not term.negated]
        if not tied:
            return frozenset()
        values |= tied[0]
    return values


def _words(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for path in paths(tokens):
        if path.member in NUMBERS and not path.is_call:
            yield from (
                (f"{path.member} holds a number, not {text!r}.", "Leave the quotes out.")
                for text in _compared(tokens, path)
            )
        words = WORDS.get(path.member)
        for literal in _compared(tokens, path) if words else ():
            if path.called in {"startsWith", "endsWith", "contains"}:
                if not any(_affix(path.called, word, literal) for word in words or ()):
                    yield f"no {path.member} {path.called} {literal!r}.", "It would never match."
            elif not path.is_call and literal not in (words or ()):
                yield f"{literal!r} is no {path.member}.", _closest(literal, words or ())


def _affix(method: str, word: str, literal: str) -> bool:
    if method == "contains":
        return literal in word
    return word.startswith(literal) if method == "startsWith" else word.endswith(literal)


def _compared(tokens: Sequence[Token], path: Path) -> Iterator[str]:
    """Yield the string literals that *path* is compared with: `==`, `!=`, `in [...]`, or a method's argument."""
    after = path.end
    if after < len(tokens) and (tokens[after].is_op("(") or _is_in_list(tokens, after)):
        start = after + (0 if path.is_call else 1)
        yield from _strings(tokens[start : closing(tokens, start)])
    elif after + 1 < len(tokens) and tokens[after].is_op("==", "!="):
        yield from _strings(tokens[after + 1 : after + 2])
    if path.start > 1 and tokens[path.start - 1].is_op("==", "!="):
        yield from _strings(tokens[path.start - 2 : path.start - 1])


def _is_in_list(tokens: Sequence[Token], at: int) -> bool:
    return tokens[at].is_op("in") and at + 1 < len(tokens) and tokens[at + 1].is_op("[")


def _strings(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.kind == "string":
            yield token.value if isinstance(token.value, str) else _decoded(token.text)


def _decoded(text: str) -> str:
    """Let CEL read a string with escapes; what it cannot read stays as it is, `_syntax` will tell."""
    try:
        return str(cel.evaluate(text))
    except (ValueError, RuntimeError):
        return text


def _patterns(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for at, token in enumerate(tokens[:-2]):
        if token.text == "matches" and tokens[at + 1].is_op("(") and tokens[at + 2].kind == "string":
            try:
                cel.evaluate(f'"".matches({tokens[at + 2].text})')
            except (ValueError, RuntimeError):
                yield f"{tokens[at + 2].text[:60]} is no regular expression.", "Write RE2 syntax."


def _syntax(text: str, field: str) -> list[Problem]:
    try:
        cel.compile(text)
    except (ValueError, RuntimeError, TypeError) as error:
        lines = [line for line in str(error).splitlines() if "ERROR" in line or "rror:" in line]
        return [
            Problem.of(field, f"is no CEL: {lines[0] if lines else error}", "Check brackets, quotes and operators.")
        ]
    return []


def _closest(word: str, known: Iterable[str]) -> str:
    near = similar(word, frozenset(known), cutoff=0.5)
    return f"Did you mean {_listing([*near])}?" if near else f"Known: {_listing(sorted(known)[:12])}."


def _listing(words: Iterable[str]) -> str:
    return ", ".join(words if isinstance(words, list | tuple) else sorted(words))
