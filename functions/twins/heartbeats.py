"""Heartbeats in memory."""

from datetime import datetime


class MemoryHeartbeats:
    """``seen`` maps (cluster, instance id) to the last time."""

    def __init__(self) -> None:
        """Start with nobody heard."""
        self.seen: dict[tuple[str, str], datetime] = {}

    def last_seen(self, cluster: str, instance_id: str) -> datetime | None:
        """See the port."""
        return self.seen.get((cluster, instance_id))
