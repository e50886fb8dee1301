"""The cgroups of this node: how often processes of each were killed for want of memory, and by whose limit.

Version 2 counts upwards: what happens in a cgroup counts in all above it, so of a tree that nothing happened in only
the top is read. Version 1 counts each cgroup alone (Amazon Linux 2), so all are read. Bounded in folders and depth.
Decides which numbers are compared. It must not know containers or events.

Sources: Documentation/admin-guide/cgroup-v2.rst (memory.events: "oom" is the limit that was hit, "oom_kill" counts
"processes belonging to this cgroup killed by any kind of OOM killer"); mm/memcontrol.c, memcg_memory_event: the loop
upwards ends at once on version 1; mem_cgroup_oom_control_read for its file.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.kernel_files import read_or_empty

_MOST_FOLDERS, _DEEPEST = 5000, 16
_MOST_REMEMBERED = 4096
_NO_LIMIT = 1 << 60  # version 1 writes "none" as the largest multiple of a page


@dataclass(frozen=True, slots=True)
class Kills:
    """So many processes of *cgroup* were killed; *limited* is whose limit was hit (empty: the node's own memory)."""

    cgroup: str
    count: int
    limited: str
    limit_bytes: int | None


@dataclass(frozen=True, slots=True)
class _Counts:
    oom: int
    kills: int


class CgroupTree:
    """The cgroups that account for memory."""

    def __init__(self, sysfs: Path) -> None:
        """Look at the node whose /sys is *sysfs*."""
        unified, old = sysfs / "fs/cgroup", sysfs / "fs/cgroup/memory"
        self.is_old = (old / "memory.oom_control").exists()
        self._root = str(old if self.is_old else unified)
        self._file, self._limit = (
            ("memory.oom_control", "memory.limit_in_bytes") if self.is_old else ("memory.events", "memory.max")
        )
        self._folders = 0

    @property
    def exists(self) -> bool:
        """Whether cgroups can be seen here."""
        return os.path.isdir(self._root)  # noqa: PTH112 - it is a text here: a Path for each folder costs

    def look(self, known: dict[str, Any]) -> list[Kills]:
        """Return who was killed since *known* (JSON: cgroup -> counts, those that are not 0) was written; renew it."""
        self._folders = 0
        found: list[Kills] = []
        self._visit("", 0, known, found, ())
        self._forget(known)
        return found

    def _visit(
        self, cgroup: str, depth: int, known: dict[str, Any], found: list[Kills], above: tuple[str, ...]
    ) -> _Counts:
        """Return what is new in *cgroup* and below it; what nobody below it accounts for is its own."""
        self._folders += 1
        counts = self._counts(cgroup)
        before = _Counts(*known.get(cgroup, (0, 0)))
        if counts == before and not self.is_old:
            return _Counts(0, 0)
        new = _since(before, counts) if counts else _Counts(0, 0)
        hit = (*above, cgroup) if new.oom else above
        below = [self._visit(child, depth + 1, known, found, hit) for child in self._children(cgroup, depth)]
        lower = _Counts(sum(one.oom for one in below), sum(one.kills for one in below))
        if counts is None:
            if cgroup and any((lower.oom, lower.kills)):  # what was told of those below is not told of it later
                known[cgroup] = [before.oom + lower.oom, before.kills + lower.kills]
            return lower
        own = new.kills - lower.kills  # of version 1 below 0 as a rule, and before Linux 5.8 it counted upwards too
        if own > 0:
            found.append(self._kills(cgroup, own, hit))
        # A child is read after its parent and may have counted one more meanwhile: it is not told again of the parent.
        base = before if counts.kills >= before.kills and counts.oom >= before.oom else _Counts(0, 0)
        passed = (counts.oom, counts.kills)
        if not self.is_old:
            passed = max(counts.oom, base.oom + lower.oom), max(counts.kills, base.kills + lower.kills)
        if any(passed):
            known[cgroup] = list(passed)
        else:
            known.pop(cgroup, None)
        return _Counts(max(new.oom, lower.oom), max(new.kills, lower.kills))

    def _kills(self, cgroup: str, count: int, hit: tuple[str, ...]) -> Kills:
        limited = self._old_limit(cgroup) if self.is_old else hit[-1] if hit else ""
        return Kills(cgroup, count, limited, self._limit_of(limited) if limited else None)

    def _old_limit(self, cgroup: str) -> str:
        """Return the nearest cgroup with a limit: version 1 does not tell whose was hit."""
        while cgroup and self._limit_of(cgroup) is None:
            cgroup = cgroup.rpartition("/")[0]
        return cgroup

    def _limit_of(self, cgroup: str) -> int | None:
        text = read_or_empty(f"{self._root}/{cgroup}/{self._limit}")
        return int(text) if text.isdigit() and int(text) < _NO_LIMIT else None

    def _counts(self, cgroup: str) -> _Counts | None:
        if not cgroup and not self.is_old:
            return None  # the root has no such file
        words = read_or_empty(f"{self._root}/{cgroup}/{self._file}").split()
        pairs = dict(zip(words[::2], words[1::2], strict=False))
        kills, oom = pairs.get("oom_kill", ""), pairs.get("oom", "0")
        return _Counts(int(oom), int(kills)) if kills.isdigit() and oom.isdigit() else None

    def _children(self, cgroup: str, depth: int) -> Iterator[str]:
        if depth >= _DEEPEST:
            return
        try:
            with os.scandir(f"{self._root}/{cgroup}") as entries:
                names = [one.name for one in entries if one.is_dir(follow_symlinks=False)]
        except OSError:
            return
        for name in names:
            if self._folders < _MOST_FOLDERS:
                yield f"{cgroup}/{name}" if cgroup else name

    def _forget(self, known: dict[str, Any]) -> None:
        """Let go of cgroups that are gone once there are many."""
        if len(known) > _MOST_REMEMBERED:
            for cgroup in [one for one in known if not os.path.isdir(f"{self._root}/{one}")]:  # noqa: PTH112 - as above
                del known[cgroup]


def _since(before: _Counts, now: _Counts) -> _Counts:
    """Return what is new; a count that fell is another cgroup's of the same name, and all of it is new."""
    if now.oom < before.oom or now.kills < before.kills:
        return now
    return _Counts(now.oom - before.oom, now.kills - before.kills)
