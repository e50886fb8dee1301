"""What NVML tells unasked, pushed as it comes: a thread that waits in the driver.

Decides which events are wanted: Xids, and those newer ones that this driver and GPU support (each GPU says which). It
must not know what an event means.
"""

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterable
from typing import Any

from agent.gpu.nvml.device import Device
from agent.gpu.nvml.library import nvml

_WAIT_MILLISECONDS = 2000  # how late a stop is heard; the driver wakes the thread at once when there is an event
_PAUSE_SECONDS = 2.0
_NO_INSTANCE = 0xFFFFFFFF
WANTED = (
    nvml.nvmlEventTypeXidCriticalError
    | nvml.nvmlEventTypeDramRetirementEvent
    | nvml.nvmlEventTypeDramRetirementFailure
    | nvml.nvmlEventTypeNonFatalPoisonError
    | nvml.nvmlEventTypeFatalPoisonError
    | nvml.nvmlEventTypeGpuUnavailableError
    | nvml.nvmlEventTypeGpuRecoveryAction
)


class EventWatch:
    """Begun with the GPUs of one session of NVML, stopped before it ends."""

    def __init__(self, devices: Iterable[Device], push: Callable[[dict[str, Any]], None]) -> None:
        """Watch *devices*; ``off`` says why it does not, if it does not."""
        self._push = push
        self._stop = threading.Event()
        self._who: dict[int | None, dict[str, Any]] = {}
        self._set: Any = None
        self.off = ""
        self._thread = threading.Thread(target=self._run, name="nvml-events", daemon=True)
        try:
            self._set = nvml.nvmlEventSetCreate()
            for device in devices:
                self._register(device)
        except nvml.NVMLError as error:
            self.off = str(error)
        if self._who:
            self._thread.start()

    def stop(self) -> bool:
        """End the thread; False when it does not come out of the driver."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(_WAIT_MILLISECONDS / 1000 * 2)
            if self._thread.is_alive():
                return False
        if self._set is not None:
            with contextlib.suppress(nvml.NVMLError):
                nvml.nvmlEventSetFree(self._set)
        return True

    def _register(self, device: Device) -> None:
        """One GPU that is gone, or that has no events, does not cost the others theirs."""
        try:
            types = nvml.nvmlDeviceGetSupportedEventTypes(device.handle) & WANTED
            nvml.nvmlDeviceRegisterEvents(device.handle, types, self._set)
        except nvml.NVMLError as error:
            self.off = str(error)
            return
        who = device.who
        self._who[_address(device.handle)] = {name: who[name] for name in ("index", "uuid", "pci", "serial")}

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                data = nvml.nvmlEventSetWait_v2(self._set, _WAIT_MILLISECONDS)
            except nvml.NVMLError_Timeout:
                continue
            except nvml.NVMLError as error:
                if error.value == nvml.NVML_ERROR_UNINITIALIZED:
                    return
                self._stop.wait(_PAUSE_SECONDS)  # a GPU is lost: it is said again and again
                continue
            self._push(self._told(data))

    def _told(self, data: Any) -> dict[str, Any]:  # noqa: ANN401 - pynvml's structure
        instances = {"gpu_instance": data.gpuInstanceId, "compute_instance": data.computeInstanceId}
        mig = {name: value for name, value in instances.items() if value != _NO_INSTANCE}
        return {"type": data.eventType, "data": data.eventData, **self._who.get(_address(data.device), {}), **mig}


def _address(handle: object) -> int | None:
    return ctypes.cast(handle, ctypes.c_void_p).value  # type: ignore[arg-type]
