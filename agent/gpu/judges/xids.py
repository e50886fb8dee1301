"""Xids that NVML tells, where the kernel's log does not.

The same Xid of the same GPU counts once: one that NVML tells waits for the log's line, and is told here only if the log
was silent about it from ten seconds before to five after: when the log cannot be read, lost records, or is a file that
nobody writes to. The line is the richer of the two and stays the rule. Other types of events (memory repair, poison,
GPU unavailable, recovery action) tell nothing by themselves: they are why a close look is taken at once, which tells
what holds. It must not know how the log is read.
"""

from collections import deque
from collections.abc import Iterable

from agent.gpu.nvml.snapshot import GpuEvent
from agent.gpu.parts import named
from agent.parsers.sighting import Sighting, known
from agent.polls.reading import Happened
from agent.xid_ledger import XidLedger
from policies.contract.catalog.xid import describe_xid, occurrence_key
from policies.contract.vocabulary import ComponentType, Kind

XID_EVENT = 0x8  # nvmlEventTypeXidCriticalError
LOG_BEFORE, LOG_AFTER = 10.0, 5.0
_MOST_WAITING = 256


class XidDesk:
    """Keeps each Xid until it is clear who tells it."""

    def __init__(self, ledger: XidLedger) -> None:
        """Ask *ledger* what the log told."""
        self._ledger = ledger
        self._waiting: deque[tuple[float, GpuEvent]] = deque(maxlen=_MOST_WAITING)

    def take(self, events: Iterable[GpuEvent], ticks: float) -> bool:
        """Take new events; True when one of them asks for a close look."""
        others = False
        for event in events:
            if event.type == XID_EVENT:
                self._waiting.append((ticks, event))
            others = others or event.type != XID_EVENT
        return others

    def untold(self, ticks: float) -> list[Happened]:
        """Return those whose time is up and that the log did not tell."""
        found: list[Happened] = []
        while self._waiting and ticks - self._waiting[0][0] >= LOG_AFTER:
            at, event = self._waiting.popleft()
            if not self._ledger.has(event.pci, event.data, at - LOG_BEFORE):
                found.append(_happened(event))
        return found


def _happened(event: GpuEvent) -> Happened:
    code = event.data
    entry = describe_xid(code)
    attributes = known(xid=code, gpu_instance=event.gpu_instance, compute_instance=event.compute_instance)
    if entry.bucket == "symptom":
        attributes["symptom"] = True
    if occurrence := occurrence_key(code, event.pci):
        attributes["occurrence"] = occurrence
    part = named(ComponentType.GPU, event.index, event.uuid, event.pci, event.serial, None)
    message = f"Xid {code} ({entry.mnemonic}) by NVML; the kernel's log did not tell it"
    return Happened(Sighting(Kind.GPU_XID, entry.severity, part, attributes), message)
