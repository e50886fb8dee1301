"""How each source is: running, absent with a reason, failing, or in a call that does not come back.

Every thread of the agent writes here, the status endpoint and the watch over hanging calls read. Decides nothing. It
must not know what a source does.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Vital:
    """One source. Times are seconds of the clock that `Vitals` was given; ``note`` is for people."""

    name: str
    state: str = "starting"  # starting, running, absent, failing
    note: str = ""
    since: float = 0.0  # when it came into this state
    measured_at: float | None = None  # when a poll last came back
    began: float | None = None  # when the call began that is under way
    due: float | None = None  # when that call should be back
    failures: int = 0


class Vitals:
    """Safe for threads."""

    def __init__(self, ticks: Callable[[], float]) -> None:
        """Date what is told by *ticks*, seconds of a clock that never goes back."""
        self._ticks = ticks
        self._lock = threading.Lock()
        self._sources: dict[str, Vital] = {}

    def running(self, name: str) -> None:
        """Say that *name* does its work."""
        self._put(name, "running", "")

    def recovered(self, name: str) -> None:
        """Say that *name*, if it was failing, has gone on for a while."""
        with self._lock:  # one lock for both: who fails in between is not well
            if name in self._sources and self._sources[name].state == "failing":
                self._set(name, "running", "")

    def absent(self, name: str, reason: str) -> None:
        """Say that there is nothing here for *name* to read, and why."""
        self._put(name, "absent", reason)

    def failing(self, name: str, error: str) -> None:
        """Say that *name* failed; it is tried again."""
        self._put(name, "failing", error)

    @contextmanager
    def measuring(self, name: str, deadline: float) -> Iterator[None]:
        """Let it be known that *name* is in a call which should be back within *deadline* seconds."""
        now = self._ticks()
        self._change(name, began=now, due=now + deadline)
        try:
            yield
            self._change(name, measured_at=self._ticks())
        finally:
            self._change(name, began=None, due=None)

    def forget(self, name: str) -> None:
        """Say that *name* runs no longer."""
        with self._lock:
            self._sources.pop(name, None)

    def overdue(self) -> list[Vital]:
        """Return the sources whose call should have come back."""
        now = self._ticks()
        return [one for one in self.all() if one.due is not None and one.due < now]

    def all(self) -> list[Vital]:
        """Return every source, by name."""
        with self._lock:
            return [self._sources[name] for name in sorted(self._sources)]

    def _put(self, name: str, state: str, note: str) -> None:
        with self._lock:
            self._set(name, state, note)

    def _set(self, name: str, state: str, note: str) -> None:
        before = self._sources.get(name, Vital(name))
        if before.state == state and before.note == note and state != "failing":
            return
        failures = before.failures + (state == "failing")
        since = before.since if before.state == state else self._ticks()
        self._sources[name] = replace(before, state=state, note=note, since=since, failures=failures)

    def _change(self, name: str, **fields: float | None) -> None:
        with self._lock:
            self._sources[name] = replace(self._sources.get(name, Vital(name)), **fields)  # type: ignore[arg-type]
