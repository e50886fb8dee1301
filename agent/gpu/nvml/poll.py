"""NVML as a poll: a short look at the set pace, a close one every ten seconds and whenever the driver asks for one.

Decides what it means that NVML does not answer: not there, refused, hung. It must not know what a look says.
"""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.gpu.bus import gpus_on_bus
from agent.gpu.judge import NOTHING_KNOWN, NOTHING_SEEN, Expected, judge
from agent.gpu.judges.xids import XidDesk
from agent.gpu.nvml.reader import DriverHungError, GpuReader, NvmlRefusedError
from agent.gpu.nvml.snapshot import (
    DRIVER_NOT_LOADED,
    LIB_RM_VERSION_MISMATCH,
    LIBRARY_NOT_FOUND,
    NO_PERMISSION,
    UNINITIALIZED,
    Look,
)
from agent.parsers.sighting import Sighting
from agent.polls.reading import Holds, Instant, Memory, NotHereError, Reading
from agent.xid_ledger import XidLedger
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

log = logging.getLogger(__name__)

CLOSE_LOOK_SECONDS = 10.0
HUNG_FOR_GOOD_SECONDS = 60.0
_REFUSED_AFTER = 10.0
_ALL_GPUS = Component(type=ComponentType.GPU)


class NvmlPoll:
    """See the module."""

    def __init__(
        self, reader: GpuReader, ledger: XidLedger, expected: Expected, on_bus: Callable[[], Sequence[str]] = tuple
    ) -> None:
        """Ask *reader*; *on_bus* tells which GPUs the PCI bus has, whatever the driver says."""
        self._reader, self._expected, self._on_bus = reader, expected, on_bus
        self._desk = XidDesk(ledger)
        self._close_look_at = 0.0
        self._said_no_events = ""

    def measure(self, memory: Memory, now: Instant) -> list[Reading]:
        """See `Poll.measure`."""
        asked = self._desk.take(self._reader.events(), now.ticks)
        told: list[Reading] = list(self._desk.untold(now.ticks))
        closely = asked or now.ticks >= self._close_look_at
        try:
            look = self._reader.look(closely=closely)
        except DriverHungError:
            return [*told, self._hung(memory, now), NOTHING_KNOWN]
        except NvmlRefusedError as error:
            memory.pop("hung_since", None)
            return [*told, *self._refused(error)]
        memory.pop("hung_since", None)
        if look.resting:
            return [*told, NOTHING_KNOWN]
        if closely:
            self._close_look_at = now.ticks + CLOSE_LOOK_SECONDS
        self._notice(look)
        if not look.gpus and not self._expected.gpus and not memory.get("gpus"):
            msg = "NVIDIA's driver is loaded and knows no GPU"
            raise NotHereError(msg)
        return [*told, *judge(look, memory, now, self._expected, closely=closely)]

    def _notice(self, look: Look) -> None:
        if look.events_off and look.events_off != self._said_no_events:
            log.info("NVML tells no events of some GPU; the kernel's log still does", extra={"why": look.events_off})
        self._said_no_events = look.events_off

    def _hung(self, memory: Memory, now: Instant) -> Holds:
        since = memory.setdefault("hung_since", now.ticks)
        lasted = now.ticks - since
        severity = Severity.CRITICAL if lasted >= HUNG_FOR_GOOD_SECONDS else Severity.ERROR
        sighting = Sighting(Kind.GPU_DRIVER_HUNG, severity, _ALL_GPUS, {"reason": "nvml"})
        return Holds(sighting, f"NVIDIA's driver does not answer; seen for {lasted:.0f} s", again=300.0)

    def _refused(self, error: NvmlRefusedError) -> list[Reading]:
        """A driver that is not there is a fault where there are GPUs, and nowhere else."""
        code = error.code
        if code in (LIBRARY_NOT_FOUND, NO_PERMISSION):
            raise NotHereError(_WHY[code])
        if code == DRIVER_NOT_LOADED and not self._expected.gpus and not self._on_bus():
            raise NotHereError(_WHY[code])
        if code == UNINITIALIZED:  # the session ended just now, and is begun again
            return [NOTHING_KNOWN]
        if code == LIB_RM_VERSION_MISMATCH:
            return [_fault(Kind.GPU_DRIVER_MISMATCH, code, "NVML does not fit the driver that is loaded"), NOTHING_SEEN]
        message = f"NVIDIA's driver cannot be used: {error} (NVML code {code})"
        return [_fault(Kind.GPU_INIT_FAILED, code, message), NOTHING_SEEN]


_WHY = {
    LIBRARY_NOT_FOUND: "there is no libnvidia-ml.so.1: no NVIDIA driver is installed, or this container lacks it",
    NO_PERMISSION: "this user may not ask NVIDIA's driver",
    DRIVER_NOT_LOADED: "NVIDIA's driver is not loaded and there is no NVIDIA GPU",
}


def _fault(kind: Kind, code: int, message: str) -> Holds:
    attributes: dict[str, Scalar] = {"nvml_error": code}
    sighting = Sighting(kind, Severity.ERROR, _ALL_GPUS, attributes, Persistence.PERMANENT)
    return Holds(sighting, message, after=_REFUSED_AFTER, in_boot=False)


def bus_of(sysfs: Path) -> Callable[[], Sequence[str]]:
    """Return what looks at the bus under *sysfs*."""
    return lambda: gpus_on_bus(sysfs)
