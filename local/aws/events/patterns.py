"""Whether an event matches an event pattern. Pure.

The rules are those of the EventBridge user guide, "Creating event patterns" and "Comparison operators". moto's matcher
does not look into lists of objects, takes `true` for 1, and knows fewer forms of anything-but.
"""

import ipaddress
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from local.aws.errors import UnsupportedError

_ABSENT = object()
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}


def matches(pattern: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    """Whether every field of the pattern matches the event.

    Raises:
        UnsupportedError: an operator that EventBridge does not have.
    """
    return all(_field(name, wanted, event) for name, wanted in pattern.items())


def check(pattern: Mapping[str, Any]) -> None:
    """Refuse a pattern that could never be evaluated.

    Raises:
        UnsupportedError: naming the operator.
    """
    for name, wanted in pattern.items():
        for part in wanted if name == "$or" else [wanted] if isinstance(wanted, Mapping) else []:
            check(part)
        for allowed in wanted if name != "$or" and isinstance(wanted, list) else []:
            if isinstance(allowed, Mapping) and not set(allowed) <= {*_OPERATORS, "exists"}:
                raise UnsupportedError(f"event patterns have no operator {sorted(allowed)} (field {name})")


def _field(name: str, wanted: Any, event: Mapping[str, Any]) -> bool:
    if name == "$or":
        return any(matches(part, event) for part in wanted)
    found = event.get(name, _ABSENT)
    if isinstance(wanted, Mapping):
        return any(matches(wanted, part) for part in _objects(found))
    values = [value for value in _flat(found) if not isinstance(value, Mapping)]
    return any(_allowed(allowed, values) for allowed in wanted)


def _objects(found: Any) -> Iterator[Mapping[str, Any]]:
    """The objects that a nested pattern may match; an absent one counts as empty, for `exists: false`."""
    if found is _ABSENT:
        yield {}
    for value in _flat(found):
        if isinstance(value, Mapping):
            yield value


def _flat(found: Any) -> Iterator[Any]:
    if isinstance(found, list):
        for value in found:
            yield from _flat(value)
    elif found is not _ABSENT:
        yield found


def _allowed(allowed: Any, values: list[Any]) -> bool:
    if not isinstance(allowed, Mapping):
        return any(_equal(allowed, value) for value in values)
    ((name, argument),) = allowed.items()
    if name == "exists":
        return bool(values) is bool(argument)
    compare = _OPERATORS.get(name)
    if compare is None:
        raise UnsupportedError(f"event patterns have no operator {name!r}")
    return any(compare(argument, value) for value in values)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)


def _each(argument: Any) -> list[Any]:
    return argument if isinstance(argument, list) else [argument]


def _prefix(argument: Any, value: Any) -> bool:
    return _affix(argument, value, str.startswith)


def _suffix(argument: Any, value: Any) -> bool:
    return _affix(argument, value, str.endswith)


def _affix(argument: Any, value: Any, test: Callable[[str, str], bool]) -> bool:
    if not isinstance(value, str):
        return False
    if isinstance(argument, Mapping):
        return any(test(value.lower(), text.lower()) for text in _each(argument["equals-ignore-case"]))
    return any(test(value, text) for text in _each(argument))


def _equals_ignore_case(argument: Any, value: Any) -> bool:
    return isinstance(value, str) and value.lower() in {text.lower() for text in _each(argument)}


def _wildcard(argument: Any, value: Any) -> bool:
    return isinstance(value, str) and any(_glob(text).fullmatch(value) for text in _each(argument))


def _glob(text: str) -> re.Pattern[str]:
    """`*` stands for any characters, a backslash makes it stand for itself."""
    parts = re.findall(r"\\.|\*|[^\\*]+|\\$", text)
    regex = "".join(".*" if part == "*" else re.escape(re.sub(r"\\(.)", r"\1", part)) for part in parts)
    return re.compile(regex, re.DOTALL)


def _numeric(argument: list[Any], value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    pairs = zip(argument[::2], argument[1::2], strict=True)
    return all(_COMPARISONS[symbol](value, bound) for symbol, bound in pairs)


def _cidr(argument: Any, value: Any) -> bool:
    try:
        return any(ipaddress.ip_address(value) in ipaddress.ip_network(network) for network in _each(argument))
    except ValueError:
        return False


def _anything_but(argument: Any, value: Any) -> bool:
    if isinstance(argument, Mapping):
        ((name, inner),) = argument.items()
        return not _OPERATORS[name](inner, value)
    return not any(_equal(excluded, value) for excluded in _each(argument))


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "prefix": _prefix,
    "suffix": _suffix,
    "equals-ignore-case": _equals_ignore_case,
    "wildcard": _wildcard,
    "numeric": _numeric,
    "cidr": _cidr,
    "anything-but": _anything_but,
}
