"""How long ago something was, as a person says it."""

from datetime import datetime

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))


def ago(now: datetime, moment: datetime) -> str:
    """Return it in the largest unit of which there are two; what lies ahead is 0 s ago."""
    seconds = max(int((now - moment).total_seconds()), 0)
    for unit, length in _UNITS:
        if seconds >= 2 * length:
            return f"{seconds // length} {unit} ago"
    return f"{seconds} s ago"
