"""Statuses of an incident, separate from the table that joins them, so that the model can name them."""

from enum import StrEnum


class IncidentStatus(StrEnum):
    """Where an incident stands. ``PARKED`` waits for a person and still holds its lease; ``CLOSED`` holds nothing."""

    SETTLING = "settling"  # time for the same cause to show elsewhere
    ACTING = "acting"  # a rung is being carried out
    RESUMING = "resuming"  # this incident emptied the job's holds: it alone resumes
    PARKED = "parked"  # a person is asked; nothing more happens by itself
    CLOSED = "closed"

    @property
    def is_open(self) -> bool:
        """Whether the sweep looks after it."""
        return self is not IncidentStatus.CLOSED
