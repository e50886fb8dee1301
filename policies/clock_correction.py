"""When something really happened, though the node's clock may be wrong.

Decides the moment of an event by the clock of the stream that took its envelope in: arrival minus sent_at is how far
the node's clock is off. It must not remember earlier envelopes: then the answer would depend on their order.

A clock that is far behind looks like an envelope that was kept and sent again much later. The second is taken as true:
its events stay old, and old events never alone justify a destructive act.
"""

from datetime import datetime

STEP_MS = 2000  # what a put may take looks like an offset: below half of it a clock is right; NTP keeps them far closer
FARTHEST_BEHIND_MS = 15 * 60_000  # beyond it the envelope was kept somewhere, see above
OLDEST_MS = 400 * 86_400_000  # older than any log that is still read; keeps absurd times within the calendar


class ClockCorrection:
    """What one envelope tells of its node's clock. ``offset`` (ms) is what to add to the node's times.

    It goes in whole steps, so that the same envelope, put twice, is corrected alike.
    """

    __slots__ = ("_sent", "offset")

    def __init__(self, sent_at: datetime, arrived_at: datetime) -> None:
        """Compare the node's clock, *sent_at*, with the lane's, *arrived_at*."""
        self._sent = to_ms(sent_at)
        raw = to_ms(arrived_at) - self._sent
        self.offset = 0 if raw > FARTHEST_BEHIND_MS else round(raw / STEP_MS) * STEP_MS

    def moment_ms(self, observed_at: datetime) -> int:
        """Return the corrected *observed_at* in epoch milliseconds: never after it was sent, never absurdly old."""
        age = self._sent - int(observed_at.timestamp() * 1000)  # `to_ms`, without a call: every event comes by here
        if age < 0:
            age = 0
        elif age > OLDEST_MS:
            age = OLDEST_MS
        return self._sent - age + self.offset

    def began_ms(self, moment: int, observed_at: datetime, first_observed_at: datetime) -> int:
        """Return when what was seen at *moment* (`moment_ms` of *observed_at*) began, in epoch milliseconds.

        It had lasted until then, or until it was sent: a clock that was set back in between makes nothing last longer.
        """
        lasted = min(to_ms(observed_at), self._sent) - to_ms(first_observed_at)
        return moment - max(lasted, 0)


def to_ms(moment: datetime) -> int:
    """Return epoch milliseconds."""
    return int(moment.timestamp() * 1000)
