"""Notices of EC2 to this instance, asked for again and again.

Decides what no answer means: nothing at a path is no notice; a service that never answered is not there, one that did
answer is failing, and the source with it. It must not know what a notice says.
"""

from collections.abc import Callable, Mapping, Sequence

from agent.host.notices.metadata import Parse
from agent.polls.reading import Instant, Memory, NotHereError, Reading
from policies.contract.errors import DependencyError

Find = Callable[[str], str | None]
"""Path below /latest/meta-data/ -> its text, None for nothing there; DependencyError when the service is silent."""
_LIFE_CYCLE = "instance-life-cycle"  # spot, on-demand, scheduled or capacity-block


class NoticePoll:
    """Asks *find* for each path of *parsers*; *only* for an instance of that life cycle, if one is named."""

    def __init__(self, find: Find, parsers: Mapping[str, Parse], *, only: str = "") -> None:
        """Nothing was asked yet."""
        self._find = find
        self._parsers = parsers
        self._only = only
        self._answered = False

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """See `Poll`. DependencyError when a service that answered before is silent."""
        del memory, now
        try:
            return self._measure()
        except DependencyError as error:
            if self._answered:
                raise
            raise NotHereError(error.message) from error

    def _measure(self) -> list[Reading]:
        if not self._answered and self._only:
            life_cycle = self._find(_LIFE_CYCLE) or "unknown"
            if life_cycle not in {self._only, "unknown"}:
                raise NotHereError(f"this is no {self._only} instance ({life_cycle})")
        texts = {path: self._find(path) for path in self._parsers}
        self._answered = True
        return [reading for path, text in texts.items() if text for reading in self._parsers[path](text)]
