"""How often to look for commands, and what time it is.

Looking costs by the thousand nodes, waiting costs training: a calm node looks seldom; one that told of a fault, or was
given a command, looks every two seconds for ten minutes, since that is when something is asked of it. The time is the
server's: a node's clock may be hours off, and an old command must not be begun for that. It must not know the table.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

EAGER_SECONDS = 2.0
EAGER_FOR_SECONDS = 600.0
LONGEST_BACK_OFF_SECONDS = 60.0


class Pacing:
    """When to look next. Seconds are of a clock that never goes back."""

    def __init__(self, calm: float, monotonic: Callable[[], float]) -> None:
        """Look every *calm* seconds when nothing is the matter."""
        self._calm = calm
        self._monotonic = monotonic
        self._eager_until = float("-inf")
        self._failures = 0

    def stir(self) -> None:
        """Look often for a while."""
        self._eager_until = self._monotonic() + EAGER_FOR_SECONDS

    def failed(self) -> None:
        """Look less and less often while the table is not reached."""
        self._failures += 1

    def succeeded(self) -> None:
        """Forget that it was not reached."""
        self._failures = 0

    @property
    def wait(self) -> float:
        """How many seconds to wait before the next look."""
        eager = self._monotonic() < self._eager_until
        usual = min(EAGER_SECONDS, self._calm) if eager else self._calm
        return max(usual, min(LONGEST_BACK_OFF_SECONDS, usual * 2.0**self._failures)) if self._failures else usual


class ServerClock:
    """The server's time, carried on by this node's own clock between two looks."""

    def __init__(self, wall: Callable[[], datetime], monotonic: Callable[[], float]) -> None:
        """Believe *wall* until a server has told its time."""
        self._wall = wall
        self._monotonic = monotonic
        self._told: tuple[datetime, float] | None = None

    def tell(self, moment: datetime | None) -> None:
        """Take *moment* as the server's time of now; None says nothing."""
        if moment is not None:
            self._told = moment, self._monotonic()

    def now(self) -> datetime:
        """Return the time."""
        if self._told is None:
            return self._wall()
        moment, at = self._told
        return moment + timedelta(seconds=self._monotonic() - at)
