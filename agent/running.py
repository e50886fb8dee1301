"""The threads of the sources: begun, ended and begun anew by groups.

Decides that two threads never work under one name: a source that does not end keeps its place, and its group says so;
when it ends at last, it begins anew.
It must not know what a source does.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from agent.supervise import start
from agent.vitals import Vitals
from agent.wiring import Run

log = logging.getLogger(__name__)

_END_SECONDS = 3.0  # a source hears a stop within a quarter of a second, unless it hangs


@dataclass(frozen=True, slots=True)
class _Running:
    thread: threading.Thread
    stop: threading.Event
    group: str


class RunningSources:
    """Used by one thread."""

    def __init__(self, vitals: Vitals, begin: Callable[..., threading.Thread] = start) -> None:
        """None runs yet."""
        self._vitals = vitals
        self._begin = begin
        self._running: dict[str, _Running] = {}
        self._next: dict[str, tuple[str, Run]] = {}  # what is to run where another does not end yet

    def start(self, group: str, sources: Mapping[str, Run]) -> None:
        """Begin *sources*, the whole of *group*."""
        for name, run in sources.items():
            if name in self._running:
                continue
            stop = threading.Event()
            self._running[name] = _Running(self._begin(name, run, stop, self._vitals), stop, group)

    def restart(self, group: str, sources: Mapping[str, Run], seconds: float = _END_SECONDS) -> list[str]:
        """End what runs of *group* and begin *sources* instead; return those that did not end within *seconds*."""
        left = self._end([name for name, one in self._running.items() if one.group == group], seconds)
        for name in left:
            log.error("a source does not end; it begins with its new settings when it does", extra={"source": name})
        self._next = {name: one for name, one in self._next.items() if one[0] != group}
        self._next |= {name: (group, sources[name]) for name in left if name in sources}
        self.start(group, sources)
        return left

    def step(self) -> None:
        """Let go of what ended late, and begin what was to run in its place."""
        for name in [name for name, one in self._running.items() if one.stop.is_set() and not one.thread.is_alive()]:
            del self._running[name]
            self._vitals.forget(name)
            if name in self._next:
                group, run = self._next.pop(name)
                log.warning("a source that did not end has ended; it begins anew", extra={"source": name})
                self.start(group, {name: run})

    def stop(self, seconds: float) -> list[str]:
        """End all; return those that did not within *seconds*."""
        self._next = {}
        return self._end(list(self._running), seconds)

    @property
    def names(self) -> list[str]:
        """What runs, by name."""
        return sorted(self._running)

    def _end(self, names: Iterable[str], seconds: float) -> list[str]:
        ending = [self._running[name] for name in names]
        for one in ending:
            one.stop.set()
        deadline = time.monotonic() + seconds
        for one in ending:
            one.thread.join(max(0.0, deadline - time.monotonic()))
        for name in [name for name, one in self._running.items() if one in ending and not one.thread.is_alive()]:
            del self._running[name]
            self._vitals.forget(name)
        return [name for name, one in self._running.items() if one in ending]
