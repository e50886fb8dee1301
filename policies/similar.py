"""Which known words somebody may have meant: those that begin with what they wrote, else those that look like it.

It must not know what the words are of.
"""

import difflib
from collections.abc import Collection, Sequence

_SHORTEST = 3  # "gp" begins everything that a GPU does
_MOST = 5


def similar(word: str, known: Collection[str], *, most: int = 3, cutoff: float = 0.6) -> Sequence[str]:
    """Return what of *known* may be meant by *word*, the likeliest first; at most *most* that only look like it."""
    begun = sorted((each for each in known if each.startswith(word)), key=lambda each: (len(each), each))
    if len(word) >= _SHORTEST and begun:
        return begun[:_MOST]
    return difflib.get_close_matches(word, sorted(known), n=most, cutoff=cutoff)
