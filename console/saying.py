"""Prints lines in which words of others stand: names of processes, lines of logs, reasons.

Decides what of them is shown: a line of somebody's log must not drive the terminal of who reads it. It must not know
how wide that is.
"""

import sys
from typing import Final, TextIO

# What moves the cursor, rings, or begins a command to the terminal (ECMA-48, C0 and C1) is shown as such.
SHOWN: Final = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def say(text: str, file: TextIO | None = None) -> None:
    """Print *text* as a line of *file* (default: standard output)."""
    print(shown(text), file=file or sys.stdout)


def shown(text: str) -> str:
    """Return *text* as it may reach a terminal."""
    return text.replace("\r\n", "\n").translate(SHOWN)
