"""How a person writes a span of time in a policy: ``30s``, ``1h30m``, ``500ms``, ``2d``.

Decides what such a text means in seconds. It must not know what the span is for.
"""

import re

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
LONGEST_TEXT = 32


def parse_duration(value: object) -> float:
    """Return the seconds that *value* (text such as ``1h30m``) means; ValueError says how to write one.

    A bare number is refused: nobody can tell from ``within: 10`` whether minutes were meant.
    """
    if not isinstance(value, str):
        raise ValueError("is not a duration; write it with its unit, such as 30s, 10m or 1h")  # noqa: TRY004 - pydantic turns ValueError, not TypeError, into a problem of the field
    text = value.strip()
    if len(text) > LONGEST_TEXT or not _WHOLE.fullmatch(text):
        raise ValueError(f"{text[:LONGEST_TEXT]!r} is not a duration; write 30s, 10m, 1h30m, 500ms or 2d")
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
