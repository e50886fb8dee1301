"""What `relight incident` needs of the world: incidents to read, and a way to coordinate.

It must not know AWS. The twins are `console/incident/twins.py`; one set of contract tests holds for both. Whatever AWS
refuses is a RelightError that says what to do.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from policies.contract.decisions import CloseMessage
from policies.contract.restraints import ApproveMessage, VerdictMessage
from policies.coordination.incident import Incident


class Incidents(Protocol):
    """The incidents table, read only. An item that this version cannot read is left out."""

    def open(self, cluster: str) -> Sequence[Incident]:
        """Return the open incidents of *cluster*, parked ones too, last changed first."""
        ...

    def closed(self, cluster: str, since: datetime) -> Sequence[Incident]:
        """Return those closed and changed after *since*, last changed first."""
        ...

    def of_node(self, cluster: str, instance_id: str) -> Sequence[Incident]:
        """Return all of one instance, newest first."""
        ...

    def of_job(self, cluster: str, job: str) -> Sequence[Incident]:
        """Return all of one run, newest first."""
        ...

    def load(self, incident_id: str) -> Incident | None:
        """Return one as it is at this moment (the lists lag by moments), None when there is none."""
        ...


class Closings(Protocol):
    """Coordinate's queue."""

    def send(self, message: CloseMessage | ApproveMessage | VerdictMessage, at: datetime) -> None:
        """Send *message*; sent again at another moment it is delivered again, which changes nothing."""
        ...
