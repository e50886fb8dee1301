"""Which Xids the kernel's log told lately, so that NVML does not tell the same ones again.

The driver tells each Xid twice, to the kernel's log and to whoever waits for its events. The log's line says more
(process, subcode, link), so it is the one that counts. Safe for threads. It must not know what an Xid means.
"""

import threading
from collections import OrderedDict

_MOST = 512  # more than 8 GPUs times the codes that one fault prints


class XidLedger:
    """The time at which each (GPU, code) was last told, by a clock in seconds that the callers share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told: OrderedDict[tuple[str | None, int], float] = OrderedDict()

    def note(self, pci: str | None, xid: int, at: float) -> None:
        """Note that the kernel's log told *xid* of the GPU at *pci*."""
        with self._lock:
            self._told[pci, xid] = at
            self._told.move_to_end((pci, xid))
            while len(self._told) > _MOST:
                self._told.popitem(last=False)

    def has(self, pci: str | None, xid: int, since: float) -> bool:
        """Tell whether the log told it at *since* or later."""
        with self._lock:
            at = self._told.get((pci, xid))
        return at is not None and at >= since
