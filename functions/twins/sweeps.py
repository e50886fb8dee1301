"""The sweep's way to coordinate in memory."""

from policies.contract.decisions import SweepMessage
from policies.contract.errors import DependencyError


class MemorySweeps:
    """``sent`` holds each message once a deduplication id, as the queue does; clusters in ``failing`` are refused."""

    def __init__(self) -> None:
        """Start empty and well."""
        self._sent: dict[tuple[str, str], SweepMessage] = {}
        self.failing: set[str] = set()

    @property
    def sent(self) -> list[SweepMessage]:
        """Return what arrived, in order."""
        return list(self._sent.values())

    def send(self, message: SweepMessage) -> None:
        """See the port."""
        if message.cluster in self.failing:
            raise DependencyError("the decisions queue refuses.")
        self._sent.setdefault((message.cluster, message.deduplication_id), message)
