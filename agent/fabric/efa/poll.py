"""The look for EFA devices: sysfs each time, the PCI bus and the attached interfaces when there is a reason.

Decides what is looked at when, so that the usual look costs one listing and a link for each device. It must not know
what is a fault.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from agent.fabric.devices import efa_functions, exclusive_namespaces, read_devices
from agent.fabric.efa.counters import judge_counters, read_counters
from agent.fabric.efa.presence import EfaLook, judge_presence
from agent.polls.reading import Instant, Memory, NotHereError, Reading

BUS_SECONDS = 60.0  # while one is missing, is it still on the bus?
ATTACHED_SECONDS = 600.0


@dataclass(slots=True)
class EfaPresence:
    """A `Poll`. ``attached`` asks how many interfaces must have a device (None: nobody says); ``possible`` by type."""

    sysfs: Path
    asked: int = 0
    possible: int | None = None
    attached: Callable[[], int | None] = lambda: None
    _bus: frozenset[str] | None = None
    _bus_at: float | None = None
    _attached: int | None = None
    _attached_at: float | None = None
    _missing: frozenset[str] = field(default_factory=frozenset)

    def measure(self, memory: Memory, now: Instant) -> list[Reading]:
        """Return a condition for each EFA device that is missing; OSError when the devices cannot be listed."""
        devices = [device for device in read_devices(self.sysfs) if device.is_efa]
        missing = frozenset(memory.get("seen", {})) - {device.key for device in devices}
        self._look_at_bus(missing, now)
        self._ask_attached(now)
        look = EfaLook(devices, self._bus, self._attached, self.asked, exclusive_namespaces(self.sysfs))
        readings = judge_presence(look, memory)
        if not readings and not devices and not self.possible:
            reason = "no EFA device is registered"
            raise NotHereError(f"{reason}, though {len(self._bus)} are on the PCI bus" if self._bus else reason)
        return readings

    def _look_at_bus(self, missing: frozenset[str], now: Instant) -> None:
        due = self._bus_at is None or (bool(missing) and now.ticks - self._bus_at >= BUS_SECONDS)
        if due or missing - self._missing:
            self._bus_at, self._bus = now.ticks, _functions(self.sysfs)
        self._missing = missing

    def _ask_attached(self, now: Instant) -> None:
        if self._attached_at is None or now.ticks - self._attached_at >= ATTACHED_SECONDS:
            self._attached_at = now.ticks
            told = self.attached()
            self._attached = self._attached if told is None else told


def _functions(sysfs: Path) -> frozenset[str] | None:
    try:
        return efa_functions(sysfs)
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class EfaTraffic:
    """A `Poll`: the counters of each EFA device that is here."""

    sysfs: Path

    def measure(self, memory: Memory, now: Instant) -> list[Reading]:
        """Return what rose too fast; OSError when the devices cannot be listed."""
        del now
        devices = [device for device in read_devices(self.sysfs) if device.is_efa]
        if not devices and not memory.get("devices"):
            msg = "no EFA device is registered"
            raise NotHereError(msg)
        return judge_counters([read_counters(self.sysfs, device) for device in devices], memory)
