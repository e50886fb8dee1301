"""Whether an act was on faulty hardware, as far as it is known by now, and how often a policy was right.

Decides which ground counts and what silence means. It must not know how grounds came to be.
"""

from dataclasses import dataclass
from datetime import datetime

from policies.moments import later
from policies.precision.record import KEPT, Act, Grade, Ground, Record
from policies.precision.signs import AGAIN_WITHIN


@dataclass(frozen=True)
class Precision:
    """Of ``acts`` so many were on ``faulty`` and on ``healthy`` hardware; of the others nobody knows.

    ``presumed`` are those of ``faulty`` of which only silence speaks.
    """

    acts: int = 0
    faulty: int = 0
    healthy: int = 0
    presumed: int = 0

    @property
    def judged(self) -> int:
        """How many acts the figure stands on."""
        return self.faulty + self.healthy

    @property
    def unknown(self) -> int:
        """How many count for nothing."""
        return self.acts - self.judged

    @property
    def value(self) -> float | None:
        """The share of judged acts that were on faulty hardware, None when none is judged."""
        return self.faulty / self.judged if self.judged else None


def verdict_of(act: Act, now: datetime) -> Ground | None:
    """Return the strongest ground of *act*, None when nothing is known of its hardware by *now*."""
    return act.grounds[0] if act.grounds else _silence(act, now)


def precision_of(record: Record | None, now: datetime, since: datetime | None = None) -> Precision:
    """Return how often *record*'s policy was right within 90 days; *since* leaves out what it did before."""
    acts = [
        each for each in (record.acts if record else ()) if now - each.at <= KEPT and (since is None or each.at > since)
    ]
    found = [ground for ground in (verdict_of(each, now) for each in acts) if ground]
    faulty = [ground for ground in found if ground.faulty]
    return Precision(
        acts=len(acts),
        faulty=len(faulty),
        healthy=len(found) - len(faulty),
        presumed=sum(ground.grade is Grade.QUIET for ground in faulty),
    )


def _silence(act: Act, now: datetime) -> Ground | None:
    """A day of silence after hardware that was proven took over: presumably the act cured something."""
    if act.changed_at is None or act.verified_at is None:
        return None
    over = later(max(act.changed_at, act.verified_at), AGAIN_WITHIN)
    return Ground(grade=Grade.QUIET, faulty=True, at=over, why="a day without the same fault") if now >= over else None
