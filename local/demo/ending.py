"""What ends the demo from outside: Ctrl-C, SIGTERM, and the hang-up of a terminal that was closed.

Decides that each of them is told as Ctrl-C, once: what follows must not break off the cleaning up. It must not know
what is cleaned up.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def ended_once() -> Iterator[Callable[[], None]]:
    """Raise KeyboardInterrupt at the first of these signals; none counts after the function that is yielded is called.

    A hang-up that is ignored already (`nohup`) stays so. After one, what would be written to the terminal goes
    nowhere: a write to a terminal that is gone fails, and the cleaning up would end with it.
    """
    numbers = [one for one in _ENDING if one is not signal.SIGHUP or signal.getsignal(one) is not signal.SIG_IGN]
    terminals = [number for number in (1, 2) if _is_terminal(number)]

    def unbroken() -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)

    def interrupt(number: int, _frame: FrameType | None) -> None:
        unbroken()
        if number == signal.SIGHUP:
            _turn_away(terminals)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield unbroken
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_terminal(number: int) -> bool:
    try:
        return os.isatty(number)
    except OSError:  # closed
        return False


def _turn_away(terminals: list[int]) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    for number in terminals:
        os.dup2(null, number)
    os.close(null)
