"""What the executors' frame needs of the tables: the incident, its acts, the lease.

It must not know DynamoDB. The twins are in `functions/twins/acts.py`.
"""

from datetime import datetime
from typing import Protocol

from policies.contract.base import Model
from policies.contract.decisions import RungReport
from policies.contract.rungs import Rung
from policies.contract.times import Moment
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease


class ActRecord(Model):
    """``ACT#<rung>#<attempt>``: written as intended before the act, with its last report after.

    ``turn`` is the incident's at that time: the ladder may come to the same rung again, and that is another act.
    """

    incident: str
    rung: Rung
    attempt: int
    turn: int
    fence: int
    intended_at: Moment  # of the first try of this rung and turn, whatever attempt made it
    report: RungReport | None = None
    updated_at: Moment | None = None  # of the last report


class ActStore(Protocol):
    """The incidents table as an executor sees it; every read is consistent. Failures raise DependencyError."""

    def load_incident(self, incident_id: str) -> Incident | None:
        """Return the incident's META document."""
        ...

    def load_acts(self, incident_id: str, rung: Rung) -> tuple[ActRecord, ...]:
        """Return the records of *rung* of all attempts, oldest attempt first."""
        ...

    def intend(self, record: ActRecord) -> ActRecord:
        """Write *record* unless one of its rung and attempt with its fence or a later is there; return what stands."""
        ...

    def report(self, record: ActRecord, report: RungReport, at: datetime) -> None:
        """Store *report* on *record*, unless a newer fence wrote there meanwhile (then nothing happens)."""
        ...


class LeaseReader(Protocol):
    """The fleet table's leases, read consistently."""

    def load_lease(self, cluster: str, generation: str) -> Lease | None:
        """Return the lease of one node generation."""
        ...
