"""Words of lists that may be long: the first few, and how many more there are. It must not know what is listed."""

from collections.abc import Sequence


def first_few(words: Sequence[str], most: int) -> str:
    """Return the first *most* of *words*, and how many more there are: ``a, b and 3 more``."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")
