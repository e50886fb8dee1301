"""Turns whatever a file or a DynamoDB item holds into plain JSON values, and gives an edit its fingerprint.

Decides what is the operator's own in an item and what is bookkeeping. It must not know what the fields mean.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from policies.contract.identifiers import stable_id

_EDIT = ("edited_by", "edited_at", "edit_reason", "restored", "pushed")
BOOKKEEPING = frozenset({"sk", "verdict", "edit_mark", *_EDIT})
"""Attributes of a `live` item that are not part of the policy: the guard's verdict, who edited it, why, and from where.

``restored`` is the revision that a roll-back brought again, ``pushed`` the folder that a push came from.
"""

DEEPEST = 12


class NotPlainError(ValueError):
    """A value that JSON has no word for."""


def operators_fields(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a `live` item that an operator wrote, as plain values; NotPlainError names the path."""
    return {str(key): plain(value, str(key)) for key, value in item.items() if key not in BOOKKEEPING}


def plain(value: object, path: str = "", depth: int = 0) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return *value* with Decimals as numbers and sets as sorted lists."""
    if depth > DEEPEST:
        raise NotPlainError(f"{path}: is nested deeper than {DEEPEST} levels")
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Decimal | float):
        return _number(Decimal(value), path)
    if isinstance(value, Mapping):
        return {str(key): plain(inner, f"{path}.{key}".lstrip("."), depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, f"{path}.{at}".lstrip("."), depth + 1) for at, inner in enumerate(value)]
    if isinstance(value, set | frozenset):
        return sorted((plain(inner, path, depth + 1) for inner in value), key=str)
    raise NotPlainError(f"{path}: is binary or of a type no policy has ({type(value).__name__})")


def _number(value: Decimal, path: str) -> int | float:
    if not value.is_finite():
        raise NotPlainError(f"{path}: is no finite number")
    whole = value == value.to_integral_value()
    return int(value) if whole and abs(value) < 10**18 else float(value)


def canonical(fields: Mapping[str, Any]) -> str:
    """Return the one JSON text of *fields*: two items with the same text are the same policy."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fingerprint(item: Mapping[str, Any]) -> str:
    """Return 32 hex digits over the operator's fields of *item*, whatever they hold; bookkeeping does not count."""
    try:
        text = canonical(operators_fields(item))
    except (NotPlainError, RecursionError):
        text = _told({key: value for key, value in item.items() if key not in BOOKKEEPING})
    return stable_id("policy", text)


def edit_mark(item: Mapping[str, Any]) -> str:
    """Return the seal that our commands write as ``edit_mark``: it ties who edited *item*, and why, to what is in it.

    Whoever edits in AWS's own console leaves the names of the edit before in place; the seal then fits no more.
    """
    return stable_id("edit", fingerprint(item), _told({key: item[key] for key in _EDIT if key in item}))


def sealed(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return *item* with its seal."""
    return {**item, "edit_mark": edit_mark(item)}


def _told(value: object, depth: int = 0) -> str:
    """Return a text of *value*, whatever it is, that is the same in each process: sets have no order of their own."""
    if depth > 2 * DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return "{" + ",".join(sorted(f"{key!r}:{_told(inner, depth + 1)}" for key, inner in value.items())) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_told(inner, depth + 1) for inner in value) + "]"
    if isinstance(value, set | frozenset):
        return "<" + ",".join(sorted(_told(inner, depth + 1) for inner in value)) + ">"
    if isinstance(value, Decimal | float) and Decimal(value).is_finite():
        return repr(_number(Decimal(value), ""))  # what was written as 5 is read as Decimal("5")
    held = getattr(value, "value", value)  # boto3 wraps what is binary
    return repr(bytes(held) if isinstance(held, bytearray) else held)
