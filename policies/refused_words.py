"""What pydantic found wrong with a value, in words for whoever wrote the policy.

Decides the words by the kind of error and its bounds. It must not know a field: which words the checks of our own say
comes through as it is. `policies/lint/refusals.py` tells the codes by these words.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import ErrorDetails

from policies.durations import parse_duration

_MEMBERS = frozenset({"str", "int", "float", "bool"})
"""How pydantic names the members of a union at the end of a place."""
_UNITS = ((86_400.0, "d"), (3600.0, "h"), (60.0, "m"))


def words_of(detail: ErrorDetails) -> str:
    """Return what is wrong, without a full stop."""
    if is_of_union(detail):
        return "is neither text nor a number, nor true or false"
    say = _SAID.get(detail["type"])
    if say is not None:
        return say(detail.get("ctx") or {}, detail["input"])
    return detail["msg"].removeprefix("Value error, ")


def place_of(detail: ErrorDetails) -> tuple[int | str, ...]:
    """Return where it is, by the names that a person wrote."""
    place = tuple(part for part in detail["loc"] if part != "[key]")
    return place[:-1] if is_of_union(detail) else place


def is_of_union(detail: ErrorDetails) -> bool:
    """Whether it is what one of several types says of a value that fits none of them."""
    return len(detail["loc"]) > 1 and detail["loc"][-1] in _MEMBERS and detail["type"].endswith(("_type", "_parsing"))


def _bound(limit: Any, written: Any) -> str:  # noqa: ANN401 - whatever somebody wrote
    """Return *limit* as the value is written: a span of time with its unit, else a number."""
    plain = f"{int(limit):,}" if limit == int(limit) else str(limit)
    try:
        parse_duration(written)
    except ValueError:
        return plain
    return next((f"{limit / each:g}{unit}" for each, unit in _UNITS if limit >= each), f"{limit:g}s")


def _told(written: Any) -> str:  # noqa: ANN401 - as above
    return "nothing" if written is None else repr(written)[:64]


def _many(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _no_whole(_: object, written: object) -> str:
    return f"{_told(written)} is no whole number"


def _no_number(_: object, written: object) -> str:
    return f"{_told(written)} is no number"


def _no_flag(_: object, written: object) -> str:
    return f"{_told(written)} is neither true nor false"


_SAID: Mapping[str, Callable[[Mapping[str, Any], Any], str]] = {
    "string_type": lambda _, written: f"{_told(written)} is no text; put it in quotes",
    "string_pattern_mismatch": lambda _, written: f"{_told(written)} has not the form that it needs",
    "string_too_long": lambda c, written: f"has {len(written)} characters, and at most {c['max_length']} are taken",
    "string_too_short": lambda c, _: f"needs at least {_many(c['min_length'], 'character')}",
    "too_long": lambda c, written: f"has {len(written)} entries, and at most {c['max_length']} are taken",
    "too_short": lambda c, _: f"needs at least {'one entry' if c['min_length'] == 1 else c['min_length']}",
    "less_than_equal": lambda c, written: f"{_told(written)} is greater than {_bound(c['le'], written)}",
    "less_than": lambda c, written: f"{_told(written)} is not less than {_bound(c['lt'], written)}",
    "greater_than_equal": lambda c, written: f"{_told(written)} is less than {_bound(c['ge'], written)}",
    "greater_than": lambda c, written: f"{_told(written)} is not greater than {_bound(c['gt'], written)}",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), _no_whole),
    **dict.fromkeys(("float_type", "float_parsing"), _no_number),
    **dict.fromkeys(("bool_type", "bool_parsing"), _no_flag),
    "finite_number": lambda _, written: f"{_told(written)} has no end",
}
