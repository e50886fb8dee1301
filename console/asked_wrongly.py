"""What is asked wrongly is exit status 2, whether the parser finds it or whoever opens what was named.

1 would be an answer of many commands: too many new acts, lines that cannot be read. It must not know a command.
"""

from policies.contract.errors import BadInputError, RelightError

FAILED, ASKED_WRONGLY = 1, 2


class AskedWronglyError(BadInputError):
    """What a person named is not there: they mistyped it, and nothing was looked at."""


def status_of(error: RelightError) -> int:
    """Return the exit status that *error* comes to."""
    return ASKED_WRONGLY if isinstance(error, AskedWronglyError) else FAILED
