"""GPUs in memory, for tests and rehearsals: passes the contract tests of `GpuReader`. It must not know faults."""

from dataclasses import replace

from agent.gpu.nvml.reader import DriverHungError, NvmlRefusedError
from agent.gpu.nvml.snapshot import Gpu, GpuEvent, Look


class MemoryGpus:
    """A `GpuReader` whose GPUs are what a test says. ``hung`` is when the call that hangs began."""

    def __init__(self, *gpus: Gpu, driver: str = "570.148.08") -> None:
        """Hold *gpus*."""
        self.gpus = list(gpus)
        self.driver = driver
        self.refused: NvmlRefusedError | None = None
        self.hung: float | None = None
        self.resting = False
        self._events: list[GpuEvent] = []

    def look(self, *, closely: bool) -> Look:
        """See `GpuReader.look`."""
        if self.hung is not None:
            raise DriverHungError(self.hung)
        if self.resting:
            return Look(resting=True)
        if self.refused:
            raise self.refused
        gpus = self.gpus if closely else [replace(gpu, detail=None) for gpu in self.gpus]
        return Look(tuple(gpus), self.driver)

    def events(self) -> list[GpuEvent]:
        """See `GpuReader.events`."""
        told, self._events = self._events, []
        return told

    def tell(self, event: GpuEvent) -> None:
        """Let the driver tell *event*."""
        self._events.append(event)
