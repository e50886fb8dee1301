"""The services that a node of a cluster cannot do without: its container runtime and its kubelet.

Watched only where they belong: they answered before, or their socket or unit is there. While a node boots, and for half
a minute (a restart), their silence is no fault. Decides what is a fault. It must not know how they are asked.

Sources: containerd and cri-o serve gRPC on a unix socket (containerd's config.toml `[grpc] address`); the kubelet's
`healthzBindAddress` and `healthzPort` (kubernetes KubeletConfiguration: 127.0.0.1, 10248).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.job.services.asking import Answer
from agent.parsers.sighting import NODE, Sighting
from agent.polls.reading import Holds, Instant, Memory, NotHereError, NotMeasured, Reading
from policies.contract.vocabulary import Kind, Severity

DOWN_SECONDS = 30.0
KUBELET_UNITS = tuple(
    Path(folder) / "kubelet.service"
    for folder in ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
)
_WORDS = {
    Answer.UNWELL: "answers that it is not well",
    Answer.SILENT: "does not answer",
    Answer.REFUSED: "does not run: nobody listens",
    Answer.ABSENT: "is gone with its socket",
}


@dataclass(frozen=True, slots=True)
class Service:
    """One service: what it is called, where it is asked, the fault it is when it is down."""

    name: str
    where: str
    down: Kind
    hint: str  # what would let this process ask it


class ServicePoll:
    """Asks one service."""

    def __init__(
        self, service: Service, ask: Callable[[], Answer], belongs: Callable[[], bool] = lambda: False
    ) -> None:
        """*belongs* tells whether it should be here even if it never answered."""
        self._service, self._ask, self._belongs = service, ask, belongs

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """Return whether it is down."""
        del now
        answer, one = self._ask(), self._service
        if answer is Answer.WELL:
            memory["answered"] = True
            return ()
        if answer is Answer.BARRED:
            if memory.get("answered"):
                return (NotMeasured(frozenset({one.down})),)
            raise NotHereError(f"{one.name} at {one.where} may not be asked: {one.hint}")
        if not memory.get("answered") and not self._belongs() and answer in (Answer.ABSENT, Answer.REFUSED):
            raise NotHereError(f"no {one.name} at {one.where}")
        sighting = Sighting(one.down, Severity.ERROR, NODE, {"unit": one.name, "reason": answer.value})
        message = f"{one.name} {_WORDS[answer]} ({one.where})"
        return (Holds(sighting, message, after=DOWN_SECONDS, in_boot=False),)


def runtime(path: str) -> Service:
    """Return the container runtime whose socket is *path*."""
    name = Path(path).stem or "container runtime"
    return Service(name, path, Kind.CONTAINER_RUNTIME_DOWN, "run the agent as root, or let its group use the socket")


def kubelet(url: str) -> Service:
    """Return the kubelet that tells its health at *url*."""
    return Service("kubelet", url, Kind.NODE_KUBELET_DOWN, "run the agent on the host's network")
