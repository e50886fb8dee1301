"""The NVLinks of one GPU: found once, then all states and counters in one call where the driver can.

How a link is asked differs: fields by scope since Hopper (NCCL asks the state so since SM 90), single calls before, and
other counters since Blackwell. What answers "not supported" the first time is not asked again. A link whose state is
not supported is not there (a PCIe card has none). A link that is down when it is found may not tell yet what it can
count, so all is found out anew until every link was up. It must not know what is a fault.
"""

from typing import Any

from agent.gpu.nvml.fieldset import (
    NVLINK_CRC,
    NVLINK_RECOVERY,
    NVLINK_RECOVERY_FAILED,
    NVLINK_REPLAY,
    NVLINK_STATE,
)
from agent.gpu.nvml.library import Asked, Fields, nvml

_COUNTERS = (NVLINK_REPLAY, NVLINK_RECOVERY, NVLINK_CRC, NVLINK_RECOVERY_FAILED)
_BY_CALL = {  # before Hopper: nvmlNvLinkErrorCounter_t
    NVLINK_REPLAY: nvml.NVML_NVLINK_ERROR_DL_REPLAY,
    NVLINK_RECOVERY: nvml.NVML_NVLINK_ERROR_DL_RECOVERY,
    NVLINK_CRC: nvml.NVML_NVLINK_ERROR_DL_CRC_FLIT,
}
_MOST_LINKS = nvml.NVML_NVLINK_MAX_LINKS


class Links:
    """Those of the GPU with this *handle*."""

    def __init__(self, handle: object) -> None:
        """Find out which there are and how each value is asked; NVMLError when the GPU is gone."""
        self._handle = handle
        self._numbers = [number for number in range(_MOST_LINKS) if _state(handle, number) is not None]
        wanted: list[Asked] = [(field, number) for number in self._numbers for field in (NVLINK_STATE, *_COUNTERS)]
        found = Fields(wanted).read(handle)
        self.settled = all(_state(handle, number) for number in self._numbers)
        self._fields = Fields([asked for asked, value in zip(wanted, found, strict=True) if value is not None])
        left = [asked for asked, value in zip(wanted, found, strict=True) if value is None]
        self._calls = [asked for asked in left if asked[0] in _BY_CALL and _counter(handle, asked) is not None]

    def read(self) -> list[list[Any]]:
        """Return a list for each link, in the order of `snapshot.Link`."""
        values = dict(zip(self._fields.asked, self._fields.read(self._handle), strict=True))
        values |= {asked: _counter(self._handle, asked) for asked in self._calls}
        return [self._link(number, values) for number in self._numbers]

    def _link(self, number: int, values: dict[Asked, int | None]) -> list[Any]:
        state = values.get((NVLINK_STATE, number))
        if (NVLINK_STATE, number) not in values:
            state = _state(self._handle, number)
        return [number, None if state is None else bool(state), *(values.get((one, number)) for one in _COUNTERS)]


def _state(handle: object, number: int) -> int | None:
    try:
        return int(nvml.nvmlDeviceGetNvLinkState(handle, number))
    except (nvml.NVMLError_NotSupported, nvml.NVMLError_InvalidArgument, nvml.NVMLError_FunctionNotFound):
        return None


def _counter(handle: object, asked: Asked) -> int | None:
    field, number = asked
    try:
        return int(nvml.nvmlDeviceGetNvLinkErrorCounter(handle, number, _BY_CALL[field]))
    except (nvml.NVMLError_NotSupported, nvml.NVMLError_InvalidArgument, nvml.NVMLError_FunctionNotFound):
        return None
