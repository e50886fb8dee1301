"""When a node's agent was last heard.

It must not know how triage packs the times. The twin is `functions/twins/heartbeats.py`.
"""

from datetime import datetime
from typing import Protocol


class Heartbeats(Protocol):
    """Failures raise DependencyError."""

    def last_seen(self, cluster: str, instance_id: str) -> datetime | None:
        """Return when the last envelope of this node arrived, to the minute or better; None when none did."""
        ...
