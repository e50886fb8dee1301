"""Tells of a source whose call does not come back: once, and again never until it came back.

What it would have seen goes unseen meanwhile, so it is a gap. Decides when that is told. It must not know sources.
"""

import logging
from collections.abc import Callable

from agent.vitals import Vital, Vitals

log = logging.getLogger(__name__)


class HungWatch:
    """Used by one thread."""

    def __init__(self, vitals: Vitals, tell: Callable[[Vital], None]) -> None:
        """Look at *vitals*; *tell* is called once for each call that hangs, and may raise: it is called again."""
        self._vitals = vitals
        self._tell = tell
        self._told: dict[str, float] = {}  # source -> when the call began

    def step(self) -> None:
        """Look once."""
        overdue = {one.name: one for one in self._vitals.overdue()}
        for name in [name for name in self._told if name not in overdue]:
            del self._told[name]
            log.warning("a source came back", extra={"source": name})
        for name, one in overdue.items():
            began = one.began or 0.0
            if self._told.get(name) == began:
                continue
            log.error("a source does not come back", extra={"source": name})
            self._tell(one)
            self._told[name] = began
