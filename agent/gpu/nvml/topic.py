"""The prober's topic `gpu`: NVML, begun when first asked and again after it ended, in the prober's process alone.

Decides when a session with the driver begins and ends: after a refusal it is tried again every few seconds; a driver
that went away ends it; a library that does not fit the driver is loaded anew, since the right one may lie on the disk
by now. It must not know what is a fault.
"""

import contextlib
import time
from collections.abc import Callable
from typing import Any

from agent.gpu.nvml.device import Device
from agent.gpu.nvml.events import EventWatch
from agent.gpu.nvml.library import forget, nvml, use

Json = dict[str, Any]
_TRY_AGAIN_SECONDS = 5.0
_OPEN_AGAIN_SECONDS = 10.0
MOST_GPUS = 64  # of one node, four times as many as any has
_ENDED = (nvml.NVML_ERROR_UNINITIALIZED, nvml.NVML_ERROR_DRIVER_NOT_LOADED)


class _Session:
    """From nvmlInit to nvmlShutdown."""

    def __init__(self, push: Callable[[Json], None]) -> None:
        self._devices: dict[int, Device] = {}
        self._failed: dict[int, tuple[int, float]] = {}
        nvml.nvmlInit()
        try:
            self.driver: str = nvml.nvmlSystemGetDriverVersion()
            for index in _places():
                self._open(index)
        except nvml.NVMLError:
            nvml.nvmlShutdown()
            raise
        self.events = EventWatch(self._devices.values(), push)

    def look(self, *, closely: bool) -> list[Json]:
        """Return every GPU; NVMLError when the session is over."""
        return [self._look(index, closely=closely) for index in _places()]

    def _look(self, index: int, *, closely: bool) -> Json:
        device = self._devices.get(index) or self._open(index)
        if device is None:
            return {"index": index, "error": self._failed[index][0]}
        try:
            return device.look_closely() if closely else device.look()
        except nvml.NVMLError as error:
            if error.value in _ENDED:
                raise
            return {**device.who, "error": error.value}

    def _open(self, index: int) -> Device | None:
        """A GPU that could not be opened is tried again, not at each look: that may cost the driver a second."""
        failed = self._failed.get(index)
        if failed and time.monotonic() - failed[1] < _OPEN_AGAIN_SECONDS:
            return None
        try:
            self._devices[index] = Device(index)
        except nvml.NVMLError as error:
            if error.value in _ENDED:
                raise
            self._failed[index] = (error.value, time.monotonic())
            return None
        return self._devices[index]

    def close(self) -> bool:
        """End it; False when a call does not come out of the driver, so that the library must stay loaded."""
        if not self.events.stop():
            return False
        with contextlib.suppress(nvml.NVMLError):
            nvml.nvmlShutdown()
        return True


def _places() -> range:
    return range(min(nvml.nvmlDeviceGetCount(), MOST_GPUS))


class GpuTopic:
    """Answers ``{"closely", "library"}`` with all GPUs; pushes events."""

    def __init__(self, push: Callable[[Json], None]) -> None:
        """Call *push* with what the driver tells unasked."""
        self._push = push
        self._session: _Session | None = None
        self._refused: Json | None = None
        self._not_before = 0.0

    def answer(self, ask: Json) -> Json:
        """Return the answer as JSON; see `agent.gpu.nvml.reader`."""
        if self._refused and time.monotonic() < self._not_before:
            return self._refused
        try:
            use(ask["library"])
            self._session = session = self._session or _Session(self._push)
            gpus = session.look(closely=ask["closely"])
        except nvml.NVMLError as error:
            self._refuse(error)
            return {"refused": error.value, "text": str(error)}
        self._refused = None
        return {"gpus": gpus, "driver": session.driver, "events_off": session.events.off}

    def _refuse(self, error: Any) -> None:  # noqa: ANN401 - NVMLError
        self._refused = {"refused": error.value, "text": str(error)}
        self._not_before = time.monotonic() + _TRY_AGAIN_SECONDS
        if self._end() and error.value == nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH:
            forget()

    def _end(self) -> bool:
        session, self._session = self._session, None
        return session.close() if session else True
