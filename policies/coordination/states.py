"""The whole life of an incident as one table: (status, what happened) -> status.

What happened is a frozen value; `evolve.py` says what else it changes. A pair that is not in the table is a defect of
the caller and raises. It must not know why something happened.
"""

from collections.abc import Mapping
from enum import StrEnum

from policies.contract.errors import RelightError
from policies.coordination.happenings import (
    Advanced,
    Approved,
    BecameResumer,
    CalledOff,
    Closed,
    DeniedAgain,
    Distrusted,
    Eased,
    Escalated,
    Faltered,
    Happening,
    Joined,
    Judged,
    NotApproved,
    Opened,
    Parked,
    Recorded,
    Restarted,
    SetAside,
    Settled,
    Skipped,
    StoodAside,
)


class IncidentStatus(StrEnum):
    """Where an incident stands. ``PARKED`` waits for a person and still holds its lease; ``CLOSED`` holds nothing."""

    SETTLING = "settling"  # time for the same cause to show elsewhere; nothing has been touched yet
    ACTING = "acting"  # rungs up to the verified node
    RESUMING = "resuming"  # this incident emptied the job's holds: it alone resumes
    PARKED = "parked"  # a person is asked; nothing more happens by itself
    CLOSED = "closed"

    @property
    def is_open(self) -> bool:
        """Whether the incident still holds its lease."""
        return self is not IncidentStatus.CLOSED

    @property
    def is_running(self) -> bool:
        """Whether an execution should be at work on it."""
        return self in {IncidentStatus.SETTLING, IncidentStatus.ACTING, IncidentStatus.RESUMING}


_S = IncidentStatus
_AT_ANY_TIME: tuple[type[Happening], ...] = (Joined, Judged, Distrusted)  # news, which move nothing
_TABLE: Mapping[IncidentStatus | None, Mapping[type[Happening], IncidentStatus]] = {
    None: {Opened: _S.SETTLING, Recorded: _S.CLOSED},
    _S.SETTLING: {
        Eased: _S.SETTLING,
        Settled: _S.ACTING,
        CalledOff: _S.CLOSED,
        Restarted: _S.SETTLING,
        Parked: _S.PARKED,
        Closed: _S.CLOSED,
    },
    _S.ACTING: {
        Eased: _S.ACTING,
        Advanced: _S.ACTING,
        Skipped: _S.ACTING,
        Faltered: _S.ACTING,
        Escalated: _S.ACTING,
        StoodAside: _S.ACTING,
        BecameResumer: _S.RESUMING,
        Restarted: _S.ACTING,
        Parked: _S.PARKED,
        Closed: _S.CLOSED,
    },
    _S.RESUMING: {
        Eased: _S.RESUMING,
        Advanced: _S.RESUMING,
        Faltered: _S.RESUMING,
        SetAside: _S.ACTING,
        StoodAside: _S.RESUMING,
        Restarted: _S.RESUMING,
        Parked: _S.PARKED,
        Closed: _S.CLOSED,
    },
    _S.PARKED: {Eased: _S.PARKED, Approved: _S.SETTLING, NotApproved: _S.PARKED, Closed: _S.CLOSED},
    _S.CLOSED: {DeniedAgain: _S.CLOSED},
}
TABLE: Mapping[IncidentStatus | None, Mapping[type[Happening], IncidentStatus]] = {
    status: moves if status is None else {**dict.fromkeys(_AT_ANY_TIME, status), **moves}
    for status, moves in _TABLE.items()
}


class IllegalTransitionError(RelightError):
    """Something happened that cannot happen in this status: a defect of coordination, not of its input."""


def next_status(status: IncidentStatus | None, happening: Happening) -> IncidentStatus:
    """Return the status after *happening*; IllegalTransitionError when the table has no such pair."""
    try:
        return TABLE[status][type(happening)]
    except KeyError:
        raise IllegalTransitionError(
            f"{type(happening).__name__} cannot happen to an incident that is {status or 'not there'}.",
            hint="Please report it with the incident's timeline.",
        ) from None
