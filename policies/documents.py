"""Turns whatever a file or a DynamoDB item holds into plain JSON values, and gives an edit its fingerprint.

Decides what is the operator's own in an item and what is bookkeeping. It must not know what the fields mean.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from policies.contract.identifiers import stable_id

BOOKKEEPING = frozenset({"sk", "verdict", "edited_by", "edited_at", "edit_reason"})
"""Attributes of a `live` item that are not part of the policy: the guard's verdict, who edited it, and why."""

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
        text = repr(sorted((str(key), repr(value)) for key, value in item.items() if key not in BOOKKEEPING))
    return stable_id("policy", text)
