"""What checks found, as lines or JSON: by what works, what is not here, what is not allowed, and what fails.

Decides the exit status: 1 when any check says that it is not well. It must not know checks.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Final

from agent.check_result import CheckResult, State

FAILED = 1
_HEADINGS: Final[dict[State, str]] = {
    "works": "works",
    "not_here": "not here",
    "not_allowed": "not allowed",
    "fails": "fails",
}
_MARKS: Final[dict[State, str]] = {"works": "ok  ", "not_here": "-   ", "not_allowed": "off ", "fails": "FAIL"}
_INDENT = " " * 22


@dataclass(frozen=True, slots=True)
class Shown:
    """A text, and the exit status that it alone would have."""

    text: str
    status: int = 0


def lines(results: Iterable[CheckResult]) -> Iterator[Shown]:
    """Yield what to print, under a heading for each state: what needs a hand comes last, where it is seen."""
    found = list(results)
    for state, heading in _HEADINGS.items():
        those = [result for result in found if result.state == state]
        if not those:
            continue
        yield Shown(f"{heading}:")
        for result in those:
            yield Shown(f"{_MARKS[state]}  {result.name:<15} {result.found}", 0 if result.ok else FAILED)
            if result.hint and state in {"not_allowed", "fails"}:
                yield Shown(f"{_INDENT}{result.hint}")


def as_json(results: Iterable[CheckResult]) -> Shown:
    """Return all results as one list of JSON."""
    found = list(results)
    told = [{**asdict(result), "state": result.state} for result in found]
    return Shown(json.dumps(told, indent=1), 0 if all(result.ok for result in found) else FAILED)
