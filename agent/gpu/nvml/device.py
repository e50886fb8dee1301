"""One GPU as NVML knows it: what identifies it is asked once, the rest at each look.

Answers are JSON in the words of `snapshot.Gpu` and `snapshot.Detail`. A call that this driver or part does not know
gives None, and so does one whose answer cannot be: a part that breaks tells rubbish, which must cost nobody a look at
the others. One that says that the GPU is gone is raised. It must not know what is a fault.
"""

import ctypes
from collections.abc import Callable
from typing import Any

from agent.gpu.nvml.fieldset import FAST, FLAGS, SLOW
from agent.gpu.nvml.library import Fields, nvml
from agent.gpu.nvml.links import Links

Json = dict[str, Any]
_GONE = (nvml.NVML_ERROR_UNINITIALIZED, nvml.NVML_ERROR_GPU_IS_LOST, nvml.NVML_ERROR_RESET_REQUIRED)
_LAST_BUS, _LAST_DEVICE = 0xFF, 0x1F
_FAST, _SLOW = tuple(FAST), tuple(SLOW)


def answer_of(call: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - whatever NVML returns
    """Return what NVML answers, None when it cannot; NVMLError when the GPU is gone."""
    try:
        return call(*arguments)
    except nvml.NVMLError as error:
        if error.value in _GONE:
            raise
        return None
    except UnicodeDecodeError:
        return None


class Device:
    """The GPU at *index*."""

    def __init__(self, index: int) -> None:
        """Open it and ask what it is; NVMLError when it cannot be opened."""
        self.handle = nvml.nvmlDeviceGetHandleByIndex(index)
        self.who: Json = {"index": index, **_identity(self.handle)}
        self._fast = Fields([(field, 0) for field in FAST.values()])
        self._slow = Fields([(field, 0) for field in SLOW.values()])
        self._links: Links | None = None
        self._mig = False
        self._fixed: Json = {}

    def look(self) -> Json:
        """Return what is wanted each second; NVMLError when it is gone."""
        found = dict(zip(_FAST, self._fast.read(self.handle), strict=True))
        for name in FLAGS:
            found[name] = None if found[name] is None else bool(found[name])
        return {**self.who, **found, "mig": self._mig, "reasons": answer_of(_reasons, self.handle)}

    def look_closely(self) -> Json:
        """Return `look` with the details."""
        handle, seen = self.handle, self.look()
        mig = answer_of(nvml.nvmlDeviceGetMigMode, handle)
        seen["mig"] = self._mig = bool(mig and mig[0] == nvml.NVML_DEVICE_MIG_ENABLE)
        if self._links is None or not self._links.settled:
            self._links = Links(handle)
        detail: Json = dict(zip(_SLOW, self._slow.read(handle), strict=True))
        detail |= self._what_never_changes()
        load = answer_of(nvml.nvmlDeviceGetUtilizationRates, handle)
        detail |= {
            "sram_exceeded": answer_of(_sram_exceeded, handle),
            "temperature": answer_of(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            "margin": answer_of(nvml.nvmlDeviceGetMarginTemperature, handle),
            "width": answer_of(nvml.nvmlDeviceGetCurrPcieLinkWidth, handle),
            "generation": answer_of(nvml.nvmlDeviceGetCurrPcieLinkGeneration, handle),
            "busy": load and load.gpu,
            "links": self._links.read(),
            "fabric": answer_of(_fabric, handle),
            "mig_instances": _instances(handle) if self._mig else 0,
        }
        return {**seen, "detail": detail}

    def _what_never_changes(self) -> Json:
        if not self._fixed:
            limit = nvml.nvmlDeviceGetTemperatureThreshold
            self._fixed = {
                "full_width": answer_of(nvml.nvmlDeviceGetMaxPcieLinkWidth, self.handle),
                "full_generation": answer_of(nvml.nvmlDeviceGetMaxPcieLinkGeneration, self.handle),
                "slowdown_temperature": answer_of(limit, self.handle, nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN),
                "memory_limit": answer_of(limit, self.handle, nvml.NVML_TEMPERATURE_THRESHOLD_MEM_MAX),
            }
        return self._fixed


def pci_of(handle: object) -> str | None:
    """Return the GPU's address as ``dddd:bb:dd``; None for one that no bus has."""
    info = nvml.nvmlDeviceGetPciInfo(handle)
    if info.bus > _LAST_BUS or info.device > _LAST_DEVICE:
        return None
    return f"{info.domain:04x}:{info.bus:02x}:{info.device:02x}"


def _identity(handle: object) -> Json:
    return {
        "uuid": answer_of(_named, nvml.nvmlDeviceGetUUID, handle),
        "pci": answer_of(pci_of, handle),
        "serial": answer_of(_named, nvml.nvmlDeviceGetSerial, handle),
        "name": answer_of(nvml.nvmlDeviceGetName, handle),
    }


def _named(call: Callable[..., str], handle: object) -> str | None:
    """Return what identifies a part: letters, digits and dashes, or it is no name."""
    told = call(handle)
    return told if told.isascii() and told.replace("-", "").isalnum() else None


def _reasons(handle: object) -> int:
    try:
        return int(nvml.nvmlDeviceGetCurrentClocksEventReasons(handle))
    except nvml.NVMLError_FunctionNotFound:  # before R535 it had another name
        return int(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))


def _sram_exceeded(handle: object) -> bool:
    status = nvml.c_nvmlEccSramErrorStatus_v1_t()
    nvml.nvmlDeviceGetSramEccErrorStatus(handle, ctypes.byref(status))
    return bool(status.bThresholdExceeded)


def _fabric(handle: object) -> list[int]:
    info = nvml.c_nvmlGpuFabricInfoV_t()
    nvml.nvmlDeviceGetGpuFabricInfoV(handle, ctypes.byref(info))
    return [info.state, info.status, info.healthMask]


def _instances(handle: object) -> int:
    most = answer_of(nvml.nvmlDeviceGetMaxMigDeviceCount, handle) or 0
    found = (answer_of(nvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, number) for number in range(most))
    return sum(one is not None for one in found)
