"""How a command of `relight policy` says that it could not do what was asked. It must not know which command."""

import sys

FAILED = 1


def complain(text: str, status: int = FAILED) -> int:
    """Tell the person on standard error; return *status*, the exit status."""
    print(f"relight policy: {text}", file=sys.stderr)
    return status
