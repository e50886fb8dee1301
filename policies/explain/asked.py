"""What became of a condition, part by part: which held, which did not, and what its members were.

Decides how a condition is cut into parts; each part is asked by the very code that judges (`Expression.ask`). It must
not know policies.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from policies.contract.events import FaultEvent
from policies.expressions.expression import Unanswered, compile_expression
from policies.expressions.members import NodeFacts
from policies.expressions.paths import closing
from policies.expressions.tokens import Token, tokenise
from policies.lint.branches import split, text_of

LONGEST_VALUE = 80
LONGEST_TEXT = 160


@dataclass(frozen=True)
class Asked:
    """A condition or a part of it. ``answer`` is None when it could not be answered, ``why`` says why then.

    ``values`` are its members as they were read, None where they are not there; ``joint`` joins ``parts``.
    """

    text: str
    answer: bool | None
    why: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    joint: str = ""
    parts: tuple["Asked", ...] = ()

    def decisive(self) -> Iterator["Asked"]:
        """Yield the smallest parts that made the answer what it is."""
        same = [part for part in self.parts if part.answer is self.answer]
        if not same:
            yield self
            return
        needs_one = self.answer is None or self.answer is (self.joint == "||")
        for part in same[:1] if needs_one else same:
            yield from part.decisive()

    def __str__(self) -> str:
        """Return the part with its answer and what it read."""
        read = ", ".join(f"{name} is {_told(value)}" for name, value in self.values.items())
        text = _cut(self.text, LONGEST_TEXT)
        if self.answer is None:
            return f"`{text}` cannot be answered: {self.why}"
        return f"`{text}` is {'true' if self.answer else 'false'}{f': {read}' if read else ''}"

    def document(self) -> dict[str, Any]:
        """Return it for machines."""
        inner = {"joint": self.joint, "parts": [part.document() for part in self.parts]} if self.parts else {}
        return {"text": self.text, "answer": self.answer, "why": self.why, "values": self.values, **inner}


def ask(text: str, event: FaultEvent, node: NodeFacts) -> Asked:
    """Return what *text*, which the checker let through, says of *event* on *node*."""
    return _ask(text, _unwrap(tokenise(text)), event, node)


def _ask(text: str, tokens: "tuple[Token, ...]", event: FaultEvent, node: NodeFacts) -> Asked:
    expression = compile_expression(text)
    said = expression.ask(event, node)
    answer, why = (None, f"{said.path} {said.reason}".strip()) if isinstance(said, Unanswered) else (said, "")
    for joint in () if len(split(tokens, "?")) > 1 else ("||", "&&"):
        parts = [_unwrap(tuple(part)) for part in split(tokens, joint)]
        if len(parts) > 1:
            asked = tuple(_ask(text_of(part), part, event, node) for part in parts)
            return Asked(text, answer, why, {}, joint, asked)
    values = {name: read(event, node) for name, read in expression.members}
    missing = [name for name, value in values.items() if value is None]
    return Asked(text, answer, f"{', '.join(missing)} is not there" if why and missing else why, values)


def _unwrap(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    while tokens and tokens[0].is_op("(") and closing(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return tokens


def _told(value: object) -> str:
    if value is None:
        return "not there"
    text = f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    return _cut(text, LONGEST_VALUE)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
