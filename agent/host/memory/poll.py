"""Memory that grows until nothing is left, warned of in time.

The samples live in this process: after a restart of the agent evidence is gathered anew, and until there is enough what
was told before neither holds nor is over. It must not know trends.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent.host.memory.frame import Frame
from agent.host.memory.judge import LeakJudge
from agent.host.memory.trend import WINDOWS_SECONDS
from agent.polls.reading import Instant, Memory, NotMeasured, Reading
from policies.contract.vocabulary import Kind

_UNKNOWN = NotMeasured(frozenset({Kind.HOST_MEMORY_LEAK}))


@dataclass(slots=True)
class LeakPoll:
    """Looks at how much memory is in use, twice a minute."""

    read: Callable[[], Frame]
    judge: LeakJudge = field(default_factory=LeakJudge)
    _began: float | None = None

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """See `Poll`. OSError when the node's figures cannot be read."""
        self._began = now.ticks if self._began is None else self._began
        found = self.judge.take(self.read(), now.ticks)
        young = now.ticks - self._began < max(WINDOWS_SECONDS)
        memory["warned"] = bool(found) or (young and memory.get("warned", False))
        return [*found, _UNKNOWN] if young and memory["warned"] else found
