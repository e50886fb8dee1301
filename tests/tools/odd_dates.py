"""Documents whose moments are others than they were."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

from policies.contract.times import parse_time


def redated(document: object, dates: Sequence[str]) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return *document* with every moment in it replaced by one of *dates*, by turns."""
    return _redated(document, cycle(dates))


def is_moment(value: object) -> bool:
    """Whether *value* is a text that is read as a moment."""
    try:
        return isinstance(value, str) and bool(parse_time(value))
    except ValueError:
        return False


def _redated(document: object, dates: Iterator[str]) -> Any:  # noqa: ANN401 - JSON of any shape
    if isinstance(document, dict):
        return {name: _redated(value, dates) for name, value in document.items()}
    if isinstance(document, list):
        return [_redated(value, dates) for value in document]
    return next(dates) if is_moment(document) else document
