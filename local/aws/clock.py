"""How fast time runs. `time_scale` is how many real seconds one second of a wait lasts: 0.1 runs ten times faster.

Scaled: waits that only pass time (Wait states, retry back-off, schedules, redelivery pauses, batching windows, boot
delays). Not scaled: limits on real work (Lambda timeouts, task timeouts and heartbeats, visibility), for the work runs
no faster.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True)
class Clock:
    """Real time with shortened waits."""

    time_scale: float = 1.0
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    started: datetime = field(default_factory=lambda: datetime.now(UTC))

    def real_seconds(self, nominal: float) -> float:
        """How long a wait of `nominal` seconds really lasts."""
        return nominal * self.time_scale

    def sleep(self, nominal: float) -> None:
        time.sleep(self.real_seconds(nominal))

    def simulated_now(self) -> datetime:
        """The time that schedules go by: it runs faster than the wall clock by 1 / time_scale."""
        return self.started + timedelta(seconds=(self.now() - self.started).total_seconds() / self.time_scale)
