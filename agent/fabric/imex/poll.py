"""The look at IMEX: its configuration, its command service, its channels. It must not know what is a fault.

IMEX is where nodes share one NVLink domain: UltraServers (p6e-gb200, p6e-gb300). Where Kubernetes runs the daemon in
pods (NVIDIA's DRA driver), the node itself has no configuration and there is nothing to see from here.

Sources: NVIDIA IMEX guide, "IMEX Service Config Options" (config.cfg, IMEX_NODE_CONFIG_FILE: one address a line) and
"IMEX Channels" (/dev/nvidia-caps-imex-channels/channel<n>).
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agent.fabric.imex.ctl import Ask
from agent.fabric.imex.domain import READY, daemon_state, read_domain
from agent.fabric.imex.judge import ImexLook, judge_imex
from agent.kernel_files import entries, read_text
from agent.polls.reading import Instant, Memory, NotHereError, Reading

NODES_FILE = Path("/etc/nvidia-imex/nodes_config.cfg")
FAMILIES = ("p6e-",)
_DEVICES = Path("/dev")


def own_addresses() -> frozenset[str]:
    """Return the addresses that this host's name resolves to; none when it does not."""
    try:
        found = socket.getaddrinfo(socket.gethostname(), None)
    except OSError:
        return frozenset()
    return frozenset(str(one[4][0]) for one in found)


@dataclass(frozen=True, slots=True)
class Imex:
    """A `Poll`. ``config`` is IMEX's config.cfg; ``addresses`` tells which of the domain's nodes this one is."""

    ask: Ask
    config: Path
    instance_type: str = ""
    devices: Path = _DEVICES
    addresses: Callable[[], frozenset[str]] = own_addresses

    def measure(self, memory: Memory, now: Instant) -> list[Reading]:
        """Return what is wrong; NotHereError where no domain is configured or no program can be asked."""
        del now
        if self.instance_type and not self.instance_type.removeprefix("ml.").startswith(FAMILIES):
            msg = f"{self.instance_type} is no part of an UltraServer"
            raise NotHereError(msg)
        peers = self._configured()
        if not peers:
            msg = f"{self._nodes_file()} names no node of an IMEX domain"
            raise NotHereError(msg)
        told = self.ask(["-q", "-c", str(self.config)])
        if told is None:
            msg = "nvidia-imex-ctl is not installed"
            raise NotHereError(msg)
        state = daemon_state(told.output)
        domain = self.ask(["-N", "-j", "-c", str(self.config)]) if state == READY else None
        look = ImexLook(
            state, read_domain(domain.output) if domain else None, peers, self.addresses() & peers, self._channels()
        )
        return judge_imex(look, memory)

    def _nodes_file(self) -> Path:
        for line in (read_text(self.config) or "").splitlines():
            name, _, value = line.partition("=")
            if name.strip() == "IMEX_NODE_CONFIG_FILE" and value.strip():
                return Path(value.strip())
        return NODES_FILE

    def _configured(self) -> frozenset[str]:
        lines = (line.strip() for line in (read_text(self._nodes_file()) or "").splitlines())
        return frozenset(line for line in lines if line and not line.startswith("#"))

    def _channels(self) -> int | None:
        """Return how many channels there are, None in a container that does not see the node's NVIDIA devices."""
        if not (self.devices / "nvidiactl").exists():
            return None
        return len(entries(self.devices / "nvidia-caps-imex-channels"))
