"""Which growth of memory will end in out-of-memory, and when.

Pure. It holds the samples of the last two hours and forgets those of processes that ended. Decides who is named: a
process that grows by itself, else the container or the node whose many small growths add up. It must not know how
memory is read.
"""

from collections import deque
from dataclasses import dataclass

from agent.host.memory.frame import Frame, Process
from agent.host.memory.trend import Growth, Sample, growth
from agent.parsers.sighting import NODE, Sighting
from agent.polls.reading import Holds
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Severity

KEPT_SAMPLES = 240  # two hours at one in 30 s
WARM_UP_SECONDS = 600.0  # of a process: models and data are loaded, which looks like nothing else but a leak
HORIZON_SECONDS = 3600.0
_HYSTERESIS = 1.5
SOON_SECONDS = 900.0
_REACH = 4.0  # no further ahead than four times as long as it was seen
_LEAST_GROWN = 256 << 20  # bytes within the window
_EXPLAINS = 0.5  # a process that makes so much of what grows is the cause of it
Key = tuple[str, int, float]  # what, pid and start of a process, or a group's path


@dataclass(frozen=True, slots=True)
class Ending:
    """A growth, and the seconds until nothing is left."""

    growth: Growth
    seconds: float


class LeakJudge:
    """Takes a frame at a time."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._series: dict[Key, deque[Sample]] = {}
        self._warned: set[Key] = set()

    def take(self, frame: Frame, ticks: float) -> list[Holds]:
        """Return what will end in out-of-memory; *ticks* are seconds since boot."""
        grown = [one for one in frame.processes if ticks - one.started >= WARM_UP_SECONDS]
        self._note(frame, grown, ticks)
        found: list[Holds] = []
        explained: dict[str, float] = {}
        for process in grown:
            room = _room(process, frame)
            ending = self._ending(_key(process), room)
            if ending:
                found.append(_process_leaks(process, ending, room))
                for limit in {"", process.group}:
                    explained[limit] = explained.get(limit, 0.0) + ending.growth.rate
        return [*found, *self._sums(frame, explained)]

    def _sums(self, frame: Frame, explained: dict[str, float]) -> list[Holds]:
        """Return the node and the containers that grow by more than the processes that were named."""
        found: list[Holds] = []
        rooms = {"": frame.available} | {path: group.limit - group.used for path, group in frame.groups.items()}
        for path, room in rooms.items():
            ending = self._ending(("sum " + path, 0, 0.0), room)
            if ending and explained.get(path, 0.0) < _EXPLAINS * ending.growth.rate:
                found.append(_sum_leaks(path, ending, room))
        return found

    def _note(self, frame: Frame, grown: list[Process], ticks: float) -> None:
        now: dict[Key, float] = {_key(one): one.own for one in grown}
        now |= {("sum " + path, 0, 0.0): group.used for path, group in frame.groups.items()}
        now["sum ", 0, 0.0] = frame.total - frame.available
        self._series = {key: self._series.get(key, deque(maxlen=KEPT_SAMPLES)) for key in now}
        self._warned &= now.keys()
        # While most of the memory belongs to processes that warm up, the sums warm up with them.
        warming = 2 * sum(one.own for one in grown) < sum(one.own for one in frame.processes)
        for key, value in now.items():
            if warming and key[0].startswith("sum"):
                self._series[key].clear()
            else:
                self._series[key].append((ticks, value))

    def _ending(self, key: Key, room: int) -> Ending | None:
        seen = growth(self._series[key])
        horizon = HORIZON_SECONDS * (_HYSTERESIS if key in self._warned else 1.0)
        self._warned.discard(key)
        if seen is None or seen.grown < _LEAST_GROWN:
            return None
        seconds = max(0, room) / seen.rate
        if seconds > min(horizon, _REACH * seen.evidence):
            return None
        self._warned.add(key)
        return Ending(seen, seconds)


def _key(process: Process) -> Key:
    return ("process", process.pid, process.started)


def _room(process: Process, frame: Frame) -> int:
    group = frame.groups.get(process.group)
    return min(frame.available, group.limit - group.used) if group else frame.available


def _process_leaks(process: Process, ending: Ending, room: int) -> Holds:
    attributes: dict[str, Scalar] = {"pid": process.pid, "process": process.name, "own_mib": process.own >> 20}
    if process.group:
        attributes["cgroup"] = process.group
    who = f"process {process.pid} ({process.name})"
    return _holds(Component(type=ComponentType.PROCESS), who, attributes, ending, room)


def _sum_leaks(path: str, ending: Ending, room: int) -> Holds:
    if not path:
        return _holds(NODE, "the node", {"resource": "node"}, ending, room)
    attributes: dict[str, Scalar] = {"resource": path, "cgroup": path}
    return _holds(Component(type=ComponentType.CONTAINER), f"the group {path}", attributes, ending, room)


def _holds(component: Component, who: str, more: dict[str, Scalar], ending: Ending, room: int) -> Holds:
    minutes = int(ending.seconds // 60)
    attributes: dict[str, Scalar] = {
        **more,
        "minutes_left": minutes,
        "growth_mib_per_hour": round(ending.growth.rate * 3600 / (1 << 20)),
        "room_mib": max(0, room) >> 20,
    }
    severity = Severity.ERROR if ending.seconds <= SOON_SECONDS else Severity.WARNING
    message = f"{who} will be out of memory in about {minutes} min"
    return Holds(Sighting(Kind.HOST_MEMORY_LEAK, severity, component, attributes), message, after=60, cleared_after=300)
