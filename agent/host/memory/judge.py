"""Which growth of memory will end in out-of-memory, and when.

Pure. It holds the samples of the last two hours and forgets those of processes that ended. Decides who is named: a
process that grows by itself, else the container or the node whose many small growths add up. It must not know how
memory is read.
"""

from collections import deque
from collections.abc import Iterable
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
_REACH = 2.0  # no further ahead than twice as long as it was seen
_LEAST_GROWN = 256 << 20  # bytes within the window
_EXPLAINS = 0.5  # a process that makes so much of what grows is the cause of it
_A_PART = 0.1  # of what grows in all: one of eight ranks that leak alike is named, a bystander is not
Key = tuple[str, int, float]  # a group's path, or pid and start of a process


@dataclass(frozen=True, slots=True)
class Ending:
    """A growth, and the seconds until it and what grows beside it leave nothing."""

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
        rooms = {"": frame.available} | {path: group.limit - group.used for path, group in frame.groups.items()}
        sums = {path: growth(self._series[_sum_key(path)]) for path in rooms}
        owns = [(one, seen) for one in grown if (seen := growth(self._series[_key(one)])) is not None]
        rates = {path: _rate(path, whole, owns) for path, whole in sums.items()}
        found: list[Holds] = []
        explained = dict.fromkeys(rooms, 0.0)
        for process, own in owns:
            path = min(("", process.group), key=lambda one: rooms[one])
            ending = self._ending(_key(process), own, rates[path], rooms[path])
            if ending and own.rate >= _A_PART * rates[path]:
                found.append(_process_leaks(process, ending, rooms[path]))
                for limit in {"", process.group}:
                    explained[limit] += own.rate
        for path, whole in sums.items():
            ending = self._ending(_sum_key(path), whole, rates[path], rooms[path]) if whole else None
            if ending and explained[path] < _EXPLAINS * rates[path]:
                found.append(_sum_leaks(path, ending, rooms[path]))
        return found

    def _note(self, frame: Frame, grown: list[Process], ticks: float) -> None:
        now: dict[Key, float] = {_key(one): one.own for one in grown}
        now |= {_sum_key(path): group.used for path, group in frame.groups.items()}
        now[_sum_key("")] = frame.total - frame.available
        self._series = {key: self._series.get(key, deque(maxlen=KEPT_SAMPLES)) for key in now}
        self._warned &= now.keys()
        # While most of the memory belongs to processes that warm up, the sums warm up with them.
        warming = 2 * sum(one.own for one in grown) < sum(one.own for one in frame.processes)
        for key, value in now.items():
            if warming and not key[1]:
                self._series[key].clear()
            else:
                self._series[key].append((ticks, value))

    def _ending(self, key: Key, seen: Growth, rate: float, room: int) -> Ending | None:
        horizon = HORIZON_SECONDS * (_HYSTERESIS if key in self._warned else 1.0)
        self._warned.discard(key)
        seconds = max(0, room) / rate
        if seen.grown < _LEAST_GROWN or seconds > min(horizon, _REACH * seen.evidence):
            return None
        self._warned.add(key)
        return Ending(seen, seconds)


def _rate(path: str, whole: Growth | None, owns: Iterable[tuple[Process, Growth]]) -> float:
    """Return how fast the room of *path* goes: as it was seen, or as what grows in it adds up."""
    parts = sum(own.rate for process, own in owns if path in {"", process.group})
    return max(parts, whole.rate if whole else 0.0)


def _key(process: Process) -> Key:
    return ("", process.pid, process.started)


def _sum_key(path: str) -> Key:
    """Return the key of a group's use, or of the node's for an empty path."""
    return (path, 0, 0.0)


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
