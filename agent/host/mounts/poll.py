"""Mounts of file servers, asked again and again whether they answer.

It must not know what is a stall.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.host.disks.mountinfo import MountList
from agent.host.disks.poll import Ask
from agent.host.limits import beyond
from agent.host.mounts.network import KINDS, STALLS, judge
from agent.host.mounts.topic import TOO_MANY
from agent.polls.reading import Instant, Memory, NotMeasured, Reading
from agent.prober.client import ProbeError

MOST_MOUNTS = 32


@dataclass(frozen=True, slots=True)
class NetworkMountPoll:
    """Looks at what *mounts* lists, by way of the prober."""

    mounts: MountList
    ask: Ask

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """See `Poll`. A job may mount one at any time, so where there is none that is no reason to look less often."""
        del memory, now
        there = self.mounts.read(KINDS)
        served, left_out = there[:MOST_MOUNTS], beyond("mounts", len(there), MOST_MOUNTS)
        if not served:
            return []
        try:
            answers = self.ask([self.mounts.reach(mount) for mount in served])
        except ProbeError:
            return [NotMeasured(STALLS), *left_out]
        found: list[Reading] = [*left_out]
        for mount in served:
            answer = answers.get(self.mounts.reach(mount), {})
            if answer.get("error") == TOO_MANY:
                found.append(NotMeasured(STALLS))
            elif (stall := judge(mount, out=answer.get("out"), error=answer.get("error"))) is not None:
                found.append(stall)
        return found
