"""Memory that grows until nothing is left, warned of in time.

The samples live in this process: after a restart of the agent evidence is gathered anew. It must not know trends.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent.host.memory.frame import Frame
from agent.host.memory.judge import LeakJudge
from agent.polls.reading import Instant, Memory, Reading


@dataclass(frozen=True, slots=True)
class LeakPoll:
    """Looks at how much memory is in use, twice a minute."""

    read: Callable[[], Frame]
    judge: LeakJudge = field(default_factory=LeakJudge)

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """See `Poll`. OSError when the node's figures cannot be read."""
        del memory
        return self.judge.take(self.read(), now.ticks)
