"""Cuts the text of a CEL expression into tokens, since the CEL library tells nothing about what it parsed.

Decides where a token begins and ends (CEL language definition, "Syntax"). It must not know which names exist.
"""

import re
from dataclasses import dataclass
from typing import Literal

TokenKind = Literal["name", "string", "bytes", "int", "uint", "float", "op"]

_QUOTED = r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^\\"\n\r])*"|\'(?:\\.|[^\\\'\n\r])*\''
_RAW = r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"[^"\n\r]*"|\'[^\'\n\r]*\''
_TOKEN = re.compile(
    rf"""
    (?P<space>[ \t\r\n\f]+|//[^\n]*)
  | (?P<bytes>(?:[bB][rR]|[rR][bB])(?:{_RAW})|[bB](?:{_QUOTED}))
  | (?P<raw>[rR](?:{_RAW}))
  | (?P<string>{_QUOTED})
  | (?P<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
  | (?P<uint>(?:0x[0-9a-fA-F]+|\d+)[uU])
  | (?P<int>0x[0-9a-fA-F]+|\d+)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<op>&&|\|\||==|!=|<=|>=|[-+*/%!<>?:.,()\[\]{{}}])
    """,
    re.VERBOSE | re.DOTALL,
)


class NotAnExpressionError(ValueError):
    """The text cannot be CEL; the message says where."""


@dataclass(frozen=True)
class Token:
    """One token. ``value`` is what a string or an int literal means, None where only CEL itself can tell."""

    kind: TokenKind
    text: str
    value: str | int | None = None

    def is_op(self, *ops: str) -> bool:
        """Whether this is one of these operators."""
        return self.kind == "op" and self.text in ops


def tokenise(text: str) -> tuple[Token, ...]:
    """Return the tokens of *text* without spaces and comments; NotAnExpressionError where none begins."""
    tokens: list[Token] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise NotAnExpressionError(f"nothing that CEL knows begins at character {place + 1}: {text[place]!r}")
        if match.lastgroup and match.lastgroup != "space":
            tokens.append(_token(match.lastgroup, match[0]))
        place = match.end()
    return tuple(tokens)


def _token(group: str, text: str) -> Token:
    if group == "raw":
        return Token("string", text, _unquote(text[1:]))
    if group == "string":
        return Token("string", text, None if "\\" in text else _unquote(text))
    if group == "int":
        return Token("int", text, int(text, 0) if text[:2] == "0x" else int(text))
    if text == "in":
        return Token("op", text)
    kinds: dict[str, TokenKind] = {"bytes": "bytes", "float": "float", "uint": "uint", "name": "name", "op": "op"}
    return Token(kinds[group], text)


def _unquote(text: str) -> str:
    edge = 3 if text[:3] in {'"""', "'''"} else 1
    return text[edge:-edge]
