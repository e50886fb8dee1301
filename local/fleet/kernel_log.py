"""A node's kernel log as a file in the form of /dev/kmsg: one record a line, `prefix,seq,usec,flags;text`.

The form is that of Documentation/ABI/testing/dev-kmsg; prefix 4 is facility kern, level warning. The microseconds
count from the boot of the machine that all nodes run on, as a reader with that machine's clocks expects.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

_WARNING, _INFO = 4, 6
# What an H200 node prints while it boots, as far as the GPUs go.
_BOOT = (
    "Linux version 6.8.0-1021-aws (buildd@lcy02) (x86_64-linux-gnu-gcc-13) #23-Ubuntu SMP",
    "nvidia: loading out-of-tree module taints kernel.",
    "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.148.08  Release Build",
)
# The buses of the eight GPUs of a p5.48xlarge.
BUSES = ("53", "64", "75", "86", "97", "a8", "b9", "ca")


def pci_of(gpu: int) -> str:
    """The PCI address of the GPU with this index, as the driver prints it: `0000:53:00`."""
    return f"0000:{BUSES[gpu]}:00"


class KernelLog:
    """Appends records; sequence numbers count up, times never go back. `monotonic` gives seconds since boot."""

    def __init__(self, path: Path, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._monotonic = monotonic
        self._sequence = 0
        path.write_bytes(b"")
        for line in _BOOT:
            self.write(line, level=_INFO)

    def write(self, text: str, level: int = _WARNING) -> None:
        """Append one record, in one write, as the kernel makes it visible."""
        with self._lock:
            micros = int(self._monotonic() * 1e6)
            record = f"{level},{self._sequence},{micros},-;{text}\n"
            self._sequence += 1
            with self.path.open("ab") as file:
                file.write(record.encode())

    def xid(self, gpu: int, number: int) -> None:
        """What the driver prints for this Xid of this GPU."""
        what = _XID_TEXTS.get(number, "")
        self.write(f"NVRM: Xid (PCI:{pci_of(gpu)}): {number}, pid='<unknown>', name=<unknown>, {what}".rstrip(", "))
        if number == _OFF_THE_BUS:
            self.write(f"NVRM: GPU {pci_of(gpu)}.0: GPU has fallen off the bus.")


_OFF_THE_BUS = 79
_XID_TEXTS = {
    48: "DBE (Double Bit Error) ECC Error: An uncorrectable double bit error (DBE) has been detected on GPU",
    63: "Row Remapper: New row marked for remapping, reset gpu to activate.",
    _OFF_THE_BUS: "GPU has fallen off the bus.",
    94: "Contained: SM (0x1). RST: No, D-RST: No",
}
