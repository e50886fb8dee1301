"""Writes a pickle (protocol 4) of objects whose classes are not installed here, from a description of them.

`pickle` itself refuses to write a class that it cannot import. It must not know what the objects mean.
"""

import struct
from dataclasses import dataclass
from typing import Any

_PROTOCOL = b"\x80\x04"
_STOP, _MARK, _NONE, _TRUE, _FALSE = b".", b"(", b"N", b"\x88", b"\x89"
_EMPTY_DICT, _SETITEMS, _EMPTY_LIST, _APPENDS = b"}", b"u", b"]", b"e"
_EMPTY_TUPLE, _TUPLE, _NEWOBJ, _BUILD, _REDUCE, _STACK_GLOBAL = b")", b"t", b"\x81", b"b", b"R", b"\x93"
_SHORT_TEXT, _TEXT, _INT1, _INT4, _LONG1 = b"\x8c", b"X", b"K", b"J", b"\x8a"


@dataclass(frozen=True, slots=True)
class Global:
    """A class or function by its module and name."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """What a function or class gives when called with these arguments (`__reduce__`)."""

    function: Global
    args: tuple[Any, ...]


class Instance:
    """An object of this class with this state (`__setstate__`, or its `__dict__`). Hashable: it can be a key."""

    def __init__(self, cls: Global, state: object = None) -> None:
        self.cls = cls
        self.state = state


def dumps(value: object) -> bytes:
    """The pickle of *value*: None, bool, int, str, list, tuple, dict, Global, Call and Instance, nested."""
    return _PROTOCOL + _encode(value) + _STOP


def _encode(value: object) -> bytes:
    if isinstance(value, str | int | None):
        return _scalar(value)
    if isinstance(value, list | tuple | dict):
        return _container(value)
    if isinstance(value, Global):
        return _text(value.module) + _text(value.name) + _STACK_GLOBAL
    if isinstance(value, Call):
        return _encode(value.function) + _encode(value.args) + _REDUCE
    if not isinstance(value, Instance):
        raise TypeError(f"{type(value).__name__} has no form here; describe it as an Instance or a Call")
    new = _encode(value.cls) + _EMPTY_TUPLE + _NEWOBJ
    return new if value.state is None else new + _encode(value.state) + _BUILD


def _scalar(value: str | int | None) -> bytes:
    if value is None:
        return _NONE
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    return _integer(value)


def _container(value: list[Any] | tuple[Any, ...] | dict[Any, Any]) -> bytes:
    if isinstance(value, list):
        return _EMPTY_LIST + _filled(value, _APPENDS)
    if isinstance(value, dict):
        return _EMPTY_DICT + _filled([part for pair in value.items() for part in pair], _SETITEMS)
    return _MARK + b"".join(map(_encode, value)) + _TUPLE if value else _EMPTY_TUPLE


def _filled(parts: list[Any], end: bytes) -> bytes:
    return _MARK + b"".join(map(_encode, parts)) + end if parts else b""


def _text(value: str) -> bytes:
    content = value.encode("utf-8", "surrogatepass")
    short = len(content) < 1 << 8
    return (_SHORT_TEXT + bytes([len(content)]) if short else _TEXT + struct.pack("<I", len(content))) + content


def _integer(value: int) -> bytes:
    if 0 <= value < 1 << 8:
        return _INT1 + bytes([value])
    if -(1 << 31) <= value < 1 << 31:
        return _INT4 + struct.pack("<i", value)
    content = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return _LONG1 + bytes([len(content)]) + content
