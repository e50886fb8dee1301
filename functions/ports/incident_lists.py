"""Incidents by whether they are open, for whoever looks back. It must not know DynamoDB.

The twin is `functions/twins/incident_lists.py`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from policies.coordination.incident import Incident


class IncidentLists(Protocol):
    """Last changed first; what this version cannot read is left out and logged. Failures raise DependencyError."""

    def open(self, cluster: str, most: int) -> Sequence[Incident]:
        """Return the open incidents of *cluster*, parked ones too; of more than *most* the last changed."""
        ...

    def closed(self, cluster: str, since: datetime, most: int) -> Sequence[Incident]:
        """Return those closed and changed after *since*; of more than *most* the last changed."""
        ...
