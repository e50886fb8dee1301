"""What services say while a node boots: that they are not ready yet is how every boot goes, and no fault.

Such a sighting stays, for whoever looks, as information with the attribute ``booting``. Decides which kinds tell of a
service's readiness and nothing else: what a service says of hardware is as true at boot as later. It must not know
logs.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from agent.parsers.sighting import Sighting
from policies.contract.vocabulary import Kind, Severity

# The kubelet begins with "container runtime is down" and "Node became not ready" until CNI and runtime are up
# (kubernetes pkg/kubelet/kubelet.go, syncLoop; setters.go).
_OF_READINESS = frozenset({Kind.CONTAINER_RUNTIME_DOWN, Kind.NODE_NOT_READY, Kind.NODE_KUBELET_DOWN})


class BootGrace:
    """When this boot's grace ends."""

    def __init__(self, seconds: float, clock: Callable[[], datetime], uptime: Callable[[], float]) -> None:
        """Let *seconds* after boot pass; *uptime* is in seconds since boot."""
        self._until = clock() + timedelta(seconds=seconds - uptime())

    def noted(self, found: list[Sighting], at: datetime) -> list[Sighting]:
        """Return *found*, said *at*, with what is normal at boot as information."""
        if at >= self._until:
            return found
        return [_booting(sighting) if sighting.kind in _OF_READINESS else sighting for sighting in found]


def _booting(sighting: Sighting) -> Sighting:
    return replace(sighting, severity=Severity.INFO, attributes={**sighting.attributes, "booting": True})
