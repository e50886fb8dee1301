"""Whether NVIDIA's driver was still loading when the kernel said something.

A GPU that is being probed says things that mean nothing about a GPU at work, and nothing can run on it yet. Decides by
the driver's own lines, and that loading is over a minute after it began whatever is said. It must not know faults.

Sources: open-gpu-kernel-modules, kernel-open/nvidia/nv.c and nvlink_linux.c ("Nvlink Core is being initialized", "NVRM:
loading NVIDIA ...", "Unregistered Nvlink Core"), nvidia-uvm/uvm.c ("Loaded the UVM driver"), nvidia-modeset and
nvidia-drm ("[drm] Initialized nvidia-drm"); the module loader's "loading out-of-tree module taints kernel".
"""

from collections.abc import Mapping
from typing import Final

from agent.follow.reader import MICROSECONDS, NO_NOTES
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind

DRIVER_LOADING: Final[Mapping[str, Scalar]] = {"driver_loading": True}
_LONGEST_TICKS = 60 * MICROSECONDS
_BEGIN = ("Nvlink Core is being initialized", "NVRM: loading NVIDIA", "nvidia: loading out-of-tree module")
_END = (
    *("Loaded the UVM driver", "Initialized nvidia-drm", "Loading NVIDIA Kernel Mode Setting Driver"),
    *("Unregistered Nvlink Core", "Unloading driver"),
)
_FAMILIES = ("gpu.", "nvlink.", "nvswitch.")


class DriverPhase:
    """Follows the lines of one log; without a line about it the driver has long been loaded."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self._began: int | None = None

    def hear(self, text: str, ticks: int) -> bool:
        """Take in what the kernel said at *ticks*, microseconds of its own time; tell whether a driver begins here."""
        if "oad" not in text and "vlink Core" not in text and "nitialized nvidia" not in text:
            return False
        if any(word in text for word in _BEGIN):
            self._began = ticks if self._began is None else self._began
            return True
        if any(word in text for word in _END):
            self._began = None
        return False

    def notes(self, kind: Kind, ticks: int) -> Mapping[str, Scalar]:
        """Return what to say about a fault of *kind* at *ticks*."""
        if self._began is None or not kind.startswith(_FAMILIES):
            return NO_NOTES
        return DRIVER_LOADING if 0 <= ticks - self._began < _LONGEST_TICKS else NO_NOTES
