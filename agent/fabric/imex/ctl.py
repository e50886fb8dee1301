"""Asks `nvidia-imex-ctl`, with a deadline after which its process is ended and left, whatever it hangs in.

Decides how long to wait and how much to read. It must not know what an answer means.
"""

import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

SECONDS = 10.0
_END_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What the program printed, and its exit status (None: it did not end in time)."""

    status: int | None
    text: str


Ask = Callable[[Sequence[str]], Answer | None]
"""Arguments -> the answer, None when the program is not here."""


def ask_program(program: str, seconds: float = SECONDS) -> Ask:
    """Return what asks *program*, at most so many seconds long."""

    def ask(arguments: Sequence[str]) -> Answer | None:
        try:
            process = subprocess.Popen(
                [program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                errors="replace",
            )
        except (FileNotFoundError, PermissionError, NotADirectoryError):
            return None
        try:
            text, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            with suppress(subprocess.TimeoutExpired):  # it may hang in the kernel, where no signal reaches it
                process.communicate(timeout=_END_SECONDS)
            return Answer(None, "")
        return Answer(process.returncode, text)

    return ask
