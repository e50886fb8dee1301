"""The port to the GPUs, and its real side: NVML in the prober, asked with a deadline.

Decides deadlines, and what an answer is in the words of `snapshot`. It must not know what is a fault.
"""

from collections import deque
from dataclasses import fields
from typing import Any, Protocol

from agent.gpu.nvml.snapshot import Detail, Fabric, Gpu, GpuEvent, Link, Look
from agent.prober.client import ProbeFailedError, ProbeHungError, Prober

TOPIC = "gpu"
# Without the persistence daemon the first call initialises every GPU: some seconds each (docs.nvidia.com,
# driver-persistence).
FIRST_SECONDS = 90.0
LOOK_SECONDS = 10.0
_RESTS = "the prober rests"
MOST_EVENTS = 256  # of a storm the first are enough: the kernel's log has them all


class NvmlRefusedError(Exception):
    """NVML could not be begun; ``code`` is its return code."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class DriverHungError(Exception):
    """A call into the driver does not come back; ``since`` is when it began, in seconds since boot (monotonic)."""

    def __init__(self, since: float) -> None:
        super().__init__("a call into NVIDIA's driver does not come back")
        self.since = since


class GpuReader(Protocol):
    """All GPUs of this node."""

    def look(self, *, closely: bool) -> Look:
        """Return how the GPUs are, with their `Detail` if *closely*; NvmlRefusedError, DriverHungError."""
        ...

    def events(self) -> list[GpuEvent]:
        """Return what the driver told since the last call, the oldest first; never waits."""
        ...


class ProbeReader:
    """Asks the topic `gpu` of *prober*."""

    def __init__(self, prober: Prober, library: str = "") -> None:
        """Use the NVML at *library*; empty: the one that the loader finds."""
        self._prober = prober
        self._library = library
        self._events: deque[GpuEvent] = deque(maxlen=MOST_EVENTS)
        self._answered = False
        prober.listen(TOPIC, self._hear)

    def look(self, *, closely: bool) -> Look:
        """See `GpuReader.look`; ProbeFailedError when the prober itself failed, but not when it rests for a reset."""
        answer = self._ask(closely=closely)
        if answer is None:
            return Look(resting=True)
        self._answered = True
        if "refused" in answer:
            raise NvmlRefusedError(answer["refused"], answer["text"])
        gpus = tuple(gpu_of(raw) for raw in answer["gpus"])
        return Look(gpus, answer["driver"], answer["events_off"])

    def events(self) -> list[GpuEvent]:
        """See `GpuReader.events`."""
        return [self._events.popleft() for _ in range(len(self._events))]

    def _ask(self, *, closely: bool) -> dict[str, Any] | None:
        ask = {"closely": closely, "library": self._library}
        try:
            answer: dict[str, Any] = self._prober.ask(TOPIC, ask, LOOK_SECONDS if self._answered else FIRST_SECONDS)
        except ProbeHungError as error:
            raise DriverHungError(error.since) from error
        except ProbeFailedError as error:
            self._answered = False
            if _RESTS in str(error):
                return None
            raise
        return answer

    def _hear(self, push: dict[str, Any]) -> None:
        self._events.append(GpuEvent(**push))


_PLAIN = tuple(field.name for field in fields(Detail) if field.name not in ("links", "fabric"))


def gpu_of(raw: dict[str, Any]) -> Gpu:
    """Return the GPU that the topic tells of as *raw*."""
    detail = raw.get("detail")
    return Gpu(**{**raw, "detail": _detail(detail)}) if detail else Gpu(**raw)


def _detail(raw: dict[str, Any]) -> Detail:
    links = tuple(Link(*link) for link in raw.get("links", ()))
    fabric = Fabric(*raw["fabric"]) if raw.get("fabric") else None
    return Detail(**{name: raw[name] for name in _PLAIN if name in raw}, links=links, fabric=fabric)
