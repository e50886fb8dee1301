"""Condition blocks of IAM policies: do they hold in a context? Pure.

Source: IAM user guide, "IAM JSON policy elements: Condition operators" and "Multivalued context keys". An operator
that is not represented never holds, and is reported (`is_known`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

ContextValues = Mapping[str, Sequence[str]]


def _equal(pattern: str, value: str) -> bool:
    return pattern == value


def _equal_ignore_case(pattern: str, value: str) -> bool:
    return pattern.lower() == value.lower()


def _like(pattern: str, value: str) -> bool:
    regex = "".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern)
    return re.fullmatch(regex, value, re.DOTALL) is not None


_TESTS: Mapping[str, Callable[[str, str], bool]] = {
    "StringEquals": _equal,
    "StringEqualsIgnoreCase": _equal_ignore_case,
    "StringLike": _like,
    "ArnEquals": _like,
    "ArnLike": _like,
    "Bool": _equal_ignore_case,
}
_NEGATED = {
    "StringNotEquals": "StringEquals",
    "StringNotEqualsIgnoreCase": "StringEqualsIgnoreCase",
    "StringNotLike": "StringLike",
    "ArnNotEquals": "ArnEquals",
    "ArnNotLike": "ArnLike",
}


_VARIABLE = re.compile(r"\$\{([^}?*$]+)\}")


def fill_in(pattern: str, context: ContextValues) -> str | None:
    """Return *pattern* with its policy variables filled in; None where one is not in the context: nothing matches.

    Source: IAM user guide, "IAM policy elements: Variables and tags". What is filled in is taken literally there; none
    of our values holds a wildcard.
    """
    known = {key.lower(): list(values) for key, values in context.items()}
    missing = [name for name in _VARIABLE.findall(pattern) if len(known.get(name.lower(), [])) != 1]
    return None if missing else _VARIABLE.sub(lambda found: known[found[1].lower()][0], pattern)


def is_known(operator: str) -> bool:
    """Whether an operator, with its prefix and suffix, can be evaluated."""
    _, name, _ = _parse(operator)
    return name in _TESTS or name in _NEGATED or name == "Null"


def hold(conditions: Mapping[str, Mapping[str, Any]], context: ContextValues) -> bool:
    """Whether all conditions hold."""
    return all(
        _holds(operator, key, _filled_in(_texts(wanted), context), context)
        for operator, block in conditions.items()
        for key, wanted in block.items()
    )


def _texts(wanted: Any) -> list[str]:
    values = wanted if isinstance(wanted, list) else [wanted]
    return [str(value).lower() if isinstance(value, bool) else str(value) for value in values]


def _filled_in(wanted: list[str], context: ContextValues) -> list[str]:
    filled = (fill_in(pattern, context) for pattern in wanted)
    return [pattern for pattern in filled if pattern is not None]


def _parse(operator: str) -> tuple[str, str, bool]:
    """(set prefix, name, whether an absent key is fine)."""
    prefix, _, name = operator.rpartition(":")
    return prefix, name.removesuffix("IfExists"), name.endswith("IfExists")


def _holds(operator: str, key: str, wanted: list[str], context: ContextValues) -> bool:
    prefix, name, if_exists = _parse(operator)
    values = next((list(found) for known, found in context.items() if known.lower() == key.lower()), [])
    if name == "Null":
        return (not values) == (wanted[0] == "true")
    if not values and (if_exists or prefix == "ForAllValues"):
        return True
    if name in _NEGATED:
        test = _TESTS[_NEGATED[name]]
        checks = [not any(test(pattern, value) for pattern in wanted) for value in values]
        return any(checks) if prefix == "ForAnyValue" else all(checks)
    if name not in _TESTS:
        return False
    checks = [any(_TESTS[name](pattern, value) for pattern in wanted) for value in values]
    return all(checks) if prefix == "ForAllValues" else any(checks)
