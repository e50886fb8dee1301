"""Names that stand for others: the same name always gets the same one, and none that stood anywhere in the original.

Decides what a substitute looks like. It must not know where in a text a name stands.
"""

import re
from collections.abc import Callable, Iterable
from enum import Enum, auto
from itertools import count

from policies.contract.identifiers import stable_id


class Sort(Enum):
    """What a name is the name of."""

    NODE = auto()
    INSTANCE = auto()
    JOB = auto()
    NAMESPACE = auto()
    CLUSTER = auto()
    RACK = auto()
    HOST = auto()
    USER = auto()
    PATH = auto()
    FILE = auto()
    ADDRESS = auto()  # of something on the network or in S3
    IPV4 = auto()
    IPV6 = auto()
    MAC = auto()
    UUID = auto()
    SERIAL = auto()
    PID = auto()
    PROGRAM = auto()
    RESOURCE = auto()  # of AWS
    NUMBER = auto()
    HEX = auto()
    MOMENT = auto()
    NAME = auto()  # of whatever


_STEMS = {sort: sort.name.lower() for sort in Sort} | {Sort.HEX: "id", Sort.INSTANCE: "i"}
_OTHER_STEMS = ("masked", "some", "x", "q")  # where the usual word is itself somebody's name
_TRIES = 2000
_FIRST_PID = 10_001
_DOCUMENTATION = ("192.0.2", "198.51.100", "203.0.113")  # RFC 5737
_PER_NET = 254


def _ipv4(number: int) -> str:
    net, host = divmod(number - 1, _PER_NET)
    return f"{_DOCUMENTATION[net % len(_DOCUMENTATION)]}.{host + 1}"


# RFC 3849 for IPv6; a MAC that is locally administered.
_FORMS: dict[Sort, Callable[[int], str]] = {
    Sort.IPV4: _ipv4,
    Sort.IPV6: lambda number: f"2001:db8::{number:x}",
    Sort.MAC: lambda number: "02:00:00:" + ":".join(f"{number >> shift & 255:02x}" for shift in (16, 8, 0)),
    Sort.UUID: lambda number: f"00000000-0000-0000-0000-{number:012d}",
    Sort.PID: lambda number: str(_FIRST_PID + number),
    Sort.NODE: lambda number: f"node-{_letters(number)}",
    Sort.RACK: lambda number: f"rack-{_letters(number)}",
    Sort.PATH: lambda number: f"/path-{number}",
}
_WORDLESS = frozenset({Sort.IPV4, Sort.IPV6, Sort.MAC, Sort.UUID, Sort.PID})


class Substitutes:
    """Gives them out. ``original`` is all text there was; ``names`` are the names that must not come back."""

    def __init__(self, original: str, names: Iterable[str] = ()) -> None:
        """Have given none."""
        self._original = original.casefold()
        self._names = [re.compile(rf"(?<![^\W_]){re.escape(name.casefold())}(?![^\W_])") for name in set(names) if name]
        self._given: dict[tuple[Sort, str], str] = {}
        self._numbers = {sort: count(1) for sort in Sort}

    def of(self, sort: Sort, name: str) -> str:
        """Return what stands for *name*, whatever the case of its letters."""
        key = (sort, name.casefold())
        if key not in self._given:
            self._given[key] = self._fresh(sort)
        return self._given[key]

    def _fresh(self, sort: Sort) -> str:
        for _try in range(_TRIES):
            candidate = _form(sort, next(self._numbers[sort]))
            if self._is_free(candidate):
                return candidate
        if sort not in _WORDLESS:
            for stem in _OTHER_STEMS:
                for _try in range(_TRIES):
                    candidate = f"{'/' if sort is Sort.PATH else ''}{stem}-{next(self._numbers[sort])}"
                    if self._is_free(candidate):
                        return candidate
        return stable_id("substitute", sort.name, next(self._numbers[sort]))

    def _is_free(self, candidate: str) -> bool:
        text = candidate.casefold()
        return text not in self._original and not any(name.search(text) for name in self._names)


def _form(sort: Sort, number: int) -> str:
    form = _FORMS.get(sort)
    return form(number) if form else f"{_STEMS[sort]}-{number}"


def _letters(number: int) -> str:
    """Return a, b … z, aa, ab … for 1, 2 and so on."""
    text = ""
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text
