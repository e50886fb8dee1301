"""Asks `nvidia-imex-ctl`, with a deadline. Decides how long to wait. It must not know what an answer means."""

import shutil
from collections.abc import Callable, Sequence

from agent.programs import Said, run

SECONDS = 10.0

Ask = Callable[[Sequence[str]], Said | None]
"""Arguments -> what the program said, None when it is not here."""


def ask_program(program: str, seconds: float = SECONDS) -> Ask:
    """Return what asks *program*, at most so many seconds long. What it complains of is no part of an answer."""

    def ask(arguments: Sequence[str]) -> Said | None:
        path = shutil.which(program)
        return run([path, *arguments], seconds, errors=False) if path else None

    return ask
