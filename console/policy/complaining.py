"""How a command of `relight policy` says that it could not do what was asked. It must not know which command."""

import sys

from console.saying import say

FAILED = 1


def complain(text: str, status: int = FAILED) -> int:
    """Tell the person on standard error; return *status*, the exit status."""
    say(f"relight policy: {text}", file=sys.stderr)
    return status
