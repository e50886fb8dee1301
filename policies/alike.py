"""What `count.same` reads: events count together only where they agree in it.

Decides how a value stands in keys and in what people read: short, and the same for the same value. What is not there,
or is an empty text, agrees with nothing. It must not count.
"""

from collections.abc import Callable
from typing import Any

from policies.contract.identifiers import stable_id

LONGEST_VALUE = 64
MOST_VALUES = 16  # kept of one policy and scope, the newest ones: a message, say, may never be the same twice
MARK = "|="  # before the value, behind policy and part


def value_of(read: object) -> str | None:
    """Return the value *read* as it stands in a key, None when it agrees with nothing."""
    if read is None or read == "":
        return None
    text = str(read).lower() if isinstance(read, bool) else str(read)
    return text if len(text) <= LONGEST_VALUE else stable_id(text)


def with_value(key: str, value: str) -> str:
    """Return *key* for what agrees in *value*; "" is a count that asks for no agreement."""
    return f"{key}{MARK}{value}" if value else key


def newest_values(counters: dict[str, Any], moment_of: Callable[[Any], int]) -> dict[str, Any]:
    """Return *counters* with no more than the newest `MOST_VALUES` of each policy and part; others stay."""
    groups: dict[str, list[str]] = {}
    for key in counters:
        if MARK in key:
            groups.setdefault(key.partition(MARK)[0], []).append(key)
    if not groups:
        return counters
    gone: set[str] = set()
    for keys in groups.values():
        gone.update(sorted(keys, key=lambda key: (moment_of(counters[key]), key))[:-MOST_VALUES])
    return {key: one for key, one in counters.items() if key not in gone}
