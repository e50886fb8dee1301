"""What the control loops know of the world outside the API: the machines, and how long things take."""

from dataclasses import dataclass
from typing import Protocol


class Machines(Protocol):
    """The machines under the nodes."""

    def is_powered(self, node: str) -> bool:
        """Whether the kubelet of this node can run: the machine is up and not fenced."""

    def exists(self, provider_id: str) -> bool:
        """Whether the cloud still has the instance `aws:///ZONE/INSTANCE`; a terminated one does not exist."""


@dataclass(frozen=True, slots=True)
class Timings:
    """Real seconds. The defaults are what a cluster of GPU nodes shows, for one who does not shorten them.

    `not_ready_after` is the controller manager's node-monitor-grace-period (50 s since Kubernetes 1.32, 40 s before).
    """

    pod_starts: float = 10.0
    pod_stops: float = 5.0
    not_ready_after: float = 50.0

    def scaled(self, factor: float) -> "Timings":
        """The same with every wait multiplied by *factor*."""
        return Timings(self.pod_starts * factor, self.pod_stops * factor, self.not_ready_after * factor)
