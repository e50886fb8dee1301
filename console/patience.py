"""Says that a call to AWS is waited for, once that takes long: silence at three in the morning looks like a hang.

Decides when a line is due. It must not end a call: botocore's bounds do, and Ctrl-C.
"""

import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from console.saying import say

if TYPE_CHECKING:
    from console.answers import Events

PATIENCE_SECONDS = 5.0
AGAIN_SECONDS = 30.0  # between two lines: a command whose every call is slow says so now and then


class Patience:
    """Knows which calls are out, in whatever thread. One thread of its own looks, from the first call on."""

    def __init__(
        self,
        tell: Callable[[str], None],
        *,
        seconds: float = PATIENCE_SECONDS,
        again: float = AGAIN_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Call *tell* with a line when a call is out for *seconds*, and not once more within *again* of them."""
        self._tell, self._seconds, self._again, self._clock = tell, seconds, again, clock
        self._out: dict[int, tuple[float, str]] = {}
        self._quiet_until = float("-inf")
        self._changed = threading.Condition()
        self._looker: threading.Thread | None = None

    def begins(self, call: int, what: str) -> None:
        """Know that *call* is out, to *what*."""
        with self._changed:
            self._out[call] = (self._clock(), what)
            if self._looker is None:
                self._looker = threading.Thread(target=self._look, name="patience", daemon=True)
                self._looker.start()
            self._changed.notify()

    def ends(self, call: int) -> None:
        """Know that *call* is answered, or given up."""
        with self._changed:
            self._out.pop(call, None)

    def _look(self) -> None:
        while True:
            with self._changed:
                self._changed.wait(self._until_due())
                line = self._line()
            if line:
                self._tell(line)

    def _until_due(self) -> float | None:
        """Return for how many seconds there is nothing to say; None until another call is out."""
        if not self._out:
            return None
        due = max(min(self._out.values())[0] + self._seconds, self._quiet_until)
        return max(due - self._clock(), 0.0)

    def _line(self) -> str:
        now = self._clock()
        late = [what for since, what in sorted(self._out.values()) if now - since >= self._seconds]
        if not late or now < self._quiet_until:
            return ""
        self._quiet_until = now + self._again
        return f"waiting for {late[0]} …; Ctrl-C ends it"


def watch(events: "Events", patience: Patience) -> None:
    """Have *patience* know of every call of the clients behind *events*: first of all, for others may raise."""

    def begins(model: Any, context: Mapping[str, Any], **_more: object) -> None:  # noqa: ANN401 - of botocore
        patience.begins(id(context), f"{model.service_model.service_id} in {context.get('client_region')}")

    def ends(context: Mapping[str, Any], **_more: object) -> None:
        patience.ends(id(context))

    events.register_first("before-call", begins)
    events.register_first("after-call", ends)
    events.register_first("after-call-error", ends)


def aloud(line: str) -> None:
    """Say *line* on standard error: what stands on standard output is the answer."""
    say(f"relight: {line}", file=sys.stderr)


PATIENCE = Patience(aloud)
"""That of the process: it is one person who waits."""
