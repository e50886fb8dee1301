"""NVML through what is asked here of pynvml, in the prober's process alone. It must not know GPUs."""

import _ctypes
import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from agent.gpu.nvml import lean
from agent.gpu.nvml.fieldset import SIGNED
from agent.memory import give_back

CALLS = (
    *("nvmlInit", "nvmlInitWithFlags", "nvmlShutdown", "nvmlErrorString", "nvmlSystemGetDriverVersion"),
    *("nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetUUID", "nvmlDeviceGetSerial"),
    *("nvmlDeviceGetName", "nvmlDeviceGetPciInfo", "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetTemperature"),
    *("nvmlDeviceGetTemperatureThreshold", "nvmlDeviceGetMarginTemperature", "nvmlDeviceGetUtilizationRates"),
    *("nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkGeneration"),
    *("nvmlDeviceGetCurrPcieLinkWidth", "nvmlDeviceGetMaxPcieLinkWidth"),
    *("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"),
    *("nvmlDeviceGetNvLinkState", "nvmlDeviceGetNvLinkErrorCounter", "nvmlDeviceGetMigMode"),
    *("nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex", "nvmlDeviceGetGpuFabricInfoV"),
    *("nvmlDeviceGetSramEccErrorStatus", "nvmlEventSetCreate", "nvmlDeviceRegisterEvents"),
    *("nvmlDeviceGetSupportedEventTypes", "nvmlEventSetWait_v2", "nvmlEventSetFree"),
)
STRUCTURES = (
    *("c_nvmlFieldValue_t", "c_nvmlValue_t", "struct_c_nvmlDevice_t", "struct_c_nvmlEventSet_t", "c_nvmlEventData_t"),
    *("nvmlPciInfo_t", "c_nvmlUtilization_t", "c_nvmlMarginTemperature_v1_t", "c_nvmlGpuFabricInfo_v2_t"),
    *("c_nvmlGpuFabricInfoV_t", "c_nvmlEccSramErrorStatus_v1_t"),
)
CONSTANTS = (
    *("NVML_DEVICE_MIG_ENABLE", "NVML_NVLINK_MAX_LINKS", "NVML_TEMPERATURE_GPU", "NVML_TEMPERATURE_THRESHOLD_MEM_MAX"),
    *("NVML_TEMPERATURE_THRESHOLD_SLOWDOWN", "NVML_NVLINK_ERROR_DL_REPLAY", "NVML_NVLINK_ERROR_DL_RECOVERY"),
    *("NVML_NVLINK_ERROR_DL_CRC_FLIT", "nvmlEventTypeXidCriticalError", "nvmlEventTypeDramRetirementEvent"),
    *("nvmlEventTypeDramRetirementFailure", "nvmlEventTypeNonFatalPoisonError", "nvmlEventTypeFatalPoisonError"),
    *("nvmlEventTypeGpuUnavailableError", "nvmlEventTypeGpuRecoveryAction", "_nvmlGetFunctionPointer", "nvmlLib"),
    "_nvmlGetFunctionPointer_cache",
)
_VALUE = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")  # by nvmlValueType_t
nvml: Any = lean.load((*CALLS, *STRUCTURES, *CONSTANTS))
give_back()
_GONE = (nvml.NVML_ERROR_UNINITIALIZED, nvml.NVML_ERROR_GPU_IS_LOST, nvml.NVML_ERROR_RESET_REQUIRED)
_LARGEST = 2**53 - 1  # what JSON keeps exactly
Asked = tuple[int, int]  # a field's id and its scope: the link, or 0


def function(name: str) -> Callable[..., int]:
    """Return NVML's own function, which returns a code; NVMLError where this driver has none."""
    found: Callable[..., int] = nvml._nvmlGetFunctionPointer(name)  # noqa: SLF001 - pynvml gives no other way
    return found


def use(path: str) -> None:
    """Take the library at *path* from now on; NVMLError when there is none."""
    if path and nvml.nvmlLib is None:
        try:
            nvml.nvmlLib = ctypes.CDLL(path)
        except OSError:
            raise nvml.NVMLError(nvml.NVML_ERROR_LIBRARY_NOT_FOUND) from None


def forget() -> None:
    """Unload the library, so that the next call loads what is now on the disk. Nobody may be inside it."""
    loaded = nvml.nvmlLib
    nvml.nvmlLib = None
    nvml._nvmlGetFunctionPointer_cache.clear()  # noqa: SLF001
    if loaded is not None:
        _ctypes.dlclose(loaded._handle)  # noqa: SLF001


class Fields:
    """Many values of one GPU in one call (nvmlDeviceGetFieldValues): the array is made once."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        """Ask for these."""
        self.asked = tuple(asked)
        self._array = (nvml.c_nvmlFieldValue_t * len(self.asked))()
        for place, (field, scope) in zip(self._array, self.asked, strict=True):
            place.fieldId, place.scopeId = field, scope

    def read(self, handle: object) -> list[int | None]:
        """Return a value each, None where there is none; NVMLError when the GPU does not answer."""
        if not self.asked:
            return []
        code = function("nvmlDeviceGetFieldValues")(handle, len(self.asked), ctypes.byref(self._array))
        gone = next((place.nvmlReturn for place in self._array if place.nvmlReturn in _GONE), 0)
        if code or gone:
            raise nvml.NVMLError(code or gone)
        return [_value(place) for place in self._array]


def _value(place: Any) -> int | None:  # noqa: ANN401 - pynvml's structure
    """A type that is newer than we are is no number for us, nor is a count that no GPU ever reached."""
    if place.nvmlReturn or place.valueType >= len(_VALUE):
        return None
    value = getattr(place.value, _VALUE[place.valueType])
    least = -_LARGEST if place.fieldId in SIGNED else 0
    return int(value) if least <= value <= _LARGEST else None
