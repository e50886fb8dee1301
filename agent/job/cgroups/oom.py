"""Processes killed because a cgroup's memory was used up, as the cgroup counts them.

The kernel's log says which process died (`container.oom_kill` of a process, `host.oom_kill` when the node's own memory
was out); this source says whose container, with which limit. Both are `container.oom_kill` within a second: companions
of one occurrence, which policies count once (`occurrence` there), and `cgroup` is only here. A kill for want of the
node's own memory is the kernel log's `host.oom_kill`: here it informs, as a symptom, which container paid for it.
Decides what a count means. It must not know how cgroups are read.
"""

from collections.abc import Sequence
from pathlib import Path

from agent.job.cgroups.names import owner_of
from agent.job.cgroups.tree import CgroupTree, Kills
from agent.parsers.sighting import Sighting, known
from agent.polls.reading import Happened, Instant, Memory, NotHereError, Reading
from policies.contract.events import Component
from policies.contract.vocabulary import ComponentType, Kind, Severity

_NAME_KEPT = 300
_OLD_EVERY_SECONDS = 14.0  # version 1 has every cgroup read: less often
_CONTAINER = Component(type=ComponentType.CONTAINER)


def judge_kills(kills: Kills) -> Happened:
    """Return what happened."""
    owner, by_node = owner_of(kills.cgroup), not kills.limited
    attributes = known(
        cgroup=kills.cgroup[-_NAME_KEPT:],
        container=owner.container or None,
        pod_uid=owner.pod_uid or None,
        unit=owner.unit or None,
        slurm_job=owner.slurm_job or None,
        step_id=owner.slurm_step or None,
        by="node" if by_node else "limit",
        limited=kills.limited[-_NAME_KEPT:] if kills.limited != kills.cgroup and not by_node else None,
        limit_bytes=kills.limit_bytes,
        symptom=True if by_node else None,
    )
    sighting = Sighting(
        Kind.CONTAINER_OOM_KILL,
        Severity.INFO if by_node else Severity.ERROR,
        _CONTAINER,
        attributes,
    )
    return Happened(sighting, _words(kills), kills.count)


def _words(kills: Kills) -> str:
    whose = f"container {owner_of(kills.cgroup).container[:12]}" if owner_of(kills.cgroup).container else kills.cgroup
    if not kills.limited:
        return f"{kills.count} of {whose[-_NAME_KEPT:]} killed: the node's own memory was out"
    limit = f" of {kills.limit_bytes} bytes" if kills.limit_bytes is not None else ""
    upper = "its limit" if kills.limited == kills.cgroup else f"the limit of {kills.limited[-_NAME_KEPT:]},"
    return f"{kills.count} of {whose[-_NAME_KEPT:]} killed: {upper}{limit} was hit"


class OomPoll:
    """Counts kills since the last look; what was killed before the agent's first look is old."""

    def __init__(self, sysfs: Path) -> None:
        """Look at the node whose /sys is *sysfs*."""
        self._sysfs = sysfs
        self._looked_at: float | None = None

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """Return whose processes were killed."""
        tree = CgroupTree(self._sysfs)
        if not tree.exists:
            raise NotHereError(f"no cgroups at {self._sysfs}/fs/cgroup: mount the node's /sys and name it as sysfs")
        if tree.is_old and self._looked_at is not None and now.ticks - self._looked_at < _OLD_EVERY_SECONDS:
            return []
        self._looked_at = now.ticks
        is_first = "cgroups" not in memory
        kills = tree.look(memory.setdefault("cgroups", {}))
        return [] if is_first else [judge_kills(one) for one in kills]
