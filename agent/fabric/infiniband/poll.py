"""The look at InfiniBand and RoCE: adapters, ports, counters. It must not know what is a fault."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agent.fabric.devices import RdmaDevice, exclusive_namespaces, read_devices
from agent.fabric.infiniband.errors import judge_errors
from agent.fabric.infiniband.links import judge_links
from agent.fabric.infiniband.ports import Port, function_of, is_physical, read_ports
from agent.fabric.infiniband.vanished import judge_vanished
from agent.fabric.rises import looked
from agent.polls.reading import Instant, Memory, NotHereError, Reading


@dataclass(frozen=True, slots=True)
class InfinibandPorts:
    """A `Poll`. ``expected`` is how many ports must be up; 0: those that were up in this boot."""

    sysfs: Path
    expected: int = 0

    def measure(self, memory: Memory, now: Instant) -> list[Reading]:
        """Return what is wrong with adapters, links and counters; OSError when the devices cannot be listed."""
        devices = [device for device in read_devices(self.sysfs) if not device.is_efa]
        if not devices and not memory.get("adapters") and not self.expected:
            msg = "no InfiniBand or RoCE adapter is registered"
            raise NotHereError(msg)
        ports = [port for device in devices for port in self._ports(device)]
        adapters = [device for device in devices if is_physical(self.sysfs, device)]
        readings = judge_vanished(
            adapters, memory, partial(function_of, self.sysfs), exclusive=exclusive_namespaces(self.sysfs)
        )
        readings += [*judge_links(ports, memory, now, self.expected), *judge_errors(ports, memory, now)]
        looked(memory, now)
        return readings

    def _ports(self, device: RdmaDevice) -> list[Port]:
        try:
            return read_ports(self.sysfs, device)
        except OSError:
            return []  # its ports are then unknown, which is neither well nor ill
