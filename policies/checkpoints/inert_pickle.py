"""A machine that follows pickles nobody trusts: it imports nothing, calls nothing and hashes no tuple.

A checkpoint's `.metadata` is a pickle written by the job. Python's own unpickler can be told which classes to find, but
not to refuse a memo of 2^32 places (an opcode of 5 bytes), nor a dictionary keyed by tuples nested so that one hash
takes for ever. Here whatever a pickle "constructs" becomes an inert `Node` that remembers its class's name; names off
the caller's list are refused. Time and memory are linear in the pickle's length: each opcode takes at least one byte,
adds at most one value, and nothing recurses.

It must not know what the values mean, nor the opcodes' numbers (`inert_opcodes.py` does).
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from policies.contract.errors import BadInputError

HINT = "Its writer was cut off, or this is no checkpoint metadata."
_DICTIONARIES = {"OrderedDict", "defaultdict", "dict"}


@dataclass(slots=True, eq=False)
class Name:
    """A class or function that the pickle mentions."""

    module: str
    name: str


@dataclass(slots=True, eq=False)
class Fields:
    """A dictionary: values under the text keys that were asked for, and those under keys that are no text, in order."""

    named: dict[str, Any] | None = None
    others: list[Any] | None = None

    def get(self, key: str) -> Any:  # noqa: ANN401 - the pickle's own
        """Return the value under *key*, None when there is none."""
        return self.named.get(key) if self.named else None


@dataclass(slots=True, eq=False)
class Node:
    """An object that the pickle constructs: its class, and its attributes as far as they were asked for."""

    cls: Name
    state: Fields | None = None


class Opaque:
    """A value that nobody asks for: lists, tuples, bytes, fractions."""


OPAQUE = Opaque()


class Machine:
    """The stack, the marks and the memo of one pickle. Its methods are what the opcodes are made of."""

    def __init__(self, data: bytes, *, allowed: Callable[[str, str], bool], keep: frozenset[str]) -> None:
        """Take the whole pickle. *allowed* judges (module, name); *keep* are the dictionary keys worth remembering."""
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: list[Any] = []
        self.allowed = allowed
        self.keep = keep

    def bad(self, what: str) -> BadInputError:
        """Return the error that says *what* is wrong, and where."""
        return BadInputError(f"the pickle {what} (byte {self.at} of {len(self.data)}).", hint=HINT)

    def take(self, length: int) -> bytes:
        """Return the next *length* bytes."""
        end = self.at + length
        if length < 0 or end > len(self.data):
            raise self.bad("ends in the middle")
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def take_line(self) -> str:
        """Return the text up to the next line feed, without it."""
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise self.bad("ends in the middle")
        line = self.take(end - self.at).decode()
        self.at += 1
        return line

    def number(self, form: struct.Struct) -> int:
        """Return the next number of this binary form."""
        value: int = form.unpack_from(self.data, self.at)[0]
        self.at += form.size
        return value

    def since_mark(self) -> list[Any]:
        """Take everything above the last mark off the stack."""
        start = self.marks.pop()
        if start > len(self.stack):
            raise self.bad("takes below its mark")
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def remember(self, place: int) -> None:
        """Store the top in the memo. Writers number its places one by one; a gap would only cost memory."""
        if place > len(self.memo):
            raise self.bad("leaves a gap in its memo")
        if place == len(self.memo):
            self.memo.append(self.stack[-1])
        else:
            self.memo[place] = self.stack[-1]

    def mention(self, module: object, name: object) -> None:
        """Push the class *module*.*name* if it is on the list."""
        if not (isinstance(module, str) and isinstance(name, str)):
            raise self.bad("names a class by something other than text")
        if not self.allowed(module, name):
            raise self.bad(f"names {module[:80]}.{name[:80]}, which is not on the list of checkpoint classes")
        self.stack.append(Name(module, name))

    def construct(self, cls: object) -> None:
        """Push an inert stand-in for an object of *cls*."""
        if not isinstance(cls, Name):
            raise self.bad("calls something that is no class")
        self.stack.append(Fields() if cls.name in _DICTIONARIES else Node(cls))

    def put_items(self, target: object, items: list[Any]) -> None:
        """Put the alternating keys and values of *items* into *target*."""
        if len(items) % 2 or not isinstance(target, Fields):
            raise self.bad("puts a key without a value, or into something that is no dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str):
                target.others = target.others or []
                target.others.append(value)
            elif key in self.keep:
                target.named = target.named or {}
                target.named[key] = value

    def build(self) -> None:
        """Give the object on top its state; what is no plain dictionary of attributes is of no interest."""
        state = self.stack.pop()
        target = self.stack[-1]
        if isinstance(target, Node) and isinstance(state, Fields):
            target.state = state
