"""Local file systems: how full they are, and which the kernel made read-only.

The sizes are asked for in the prober: a path that leads over a hung mount, or a disk that died, may not come back. Each
of the two is known without the other. It must not know where the lines are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.host.disks import full, read_only
from agent.host.disks.mountinfo import Mount, MountList, device_name
from agent.host.limits import beyond
from agent.kernel_files import read_or_empty
from agent.polls.reading import Instant, Memory, NotMeasured, Reading
from agent.prober.client import ProbeError
from policies.contract.vocabulary import Kind

_FSTAB_BYTES = 64 * 1024
MOST_DISKS = 64  # file systems; a p5 has 8 disks of its own and a few of EBS
Ask = Callable[[Sequence[str]], Mapping[str, Mapping[str, Any]]]
"""Paths -> what `agent.host.mounts.topic` answers for each; ProbeError when the prober does not."""


@dataclass(frozen=True, slots=True)
class DiskPoll:
    """Looks at what *mounts* lists."""

    mounts: MountList
    ask: Ask
    sysfs: Path
    fstab: Path

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """See `Poll`."""
        del now
        mounts = self.mounts.read(full.KINDS | read_only.KINDS)
        return [*self._read_only(mounts, memory), *self._full(mounts, memory)]

    def _read_only(self, mounts: Sequence[Mount], memory: Memory) -> list[Reading]:
        meant = read_only.meant_writable(read_or_empty(self.fstab, _FSTAB_BYTES))
        before, now = set(memory.get("writable", ())), {mount.device for mount in mounts}
        found = [
            read_only.judge(
                mount,
                device_name(mount, self.sysfs),
                meant=mount.device in before or mount.path in meant,
            )
            for mount in mounts
        ]
        memory["writable"] = sorted(before & now | {mount.device for mount in mounts if read_only.is_writable(mount)})
        return [reading for reading in found if reading]

    def _full(self, mounts: Sequence[Mount], memory: Memory) -> list[Reading]:
        there = [mount for mount in mounts if full.counts(mount)]
        local, left_out = there[:MOST_DISKS], beyond("disks", len(there), MOST_DISKS)
        try:
            answers = self.ask([self.mounts.reach(mount) for mount in local])
        except ProbeError:
            return [NotMeasured(frozenset({Kind.STORAGE_FULL})), *left_out]
        devices = {device_name(mount, self.sysfs): mount for mount in local}
        levels = full.still_there(memory.get("levels", {}), devices)
        memory["levels"] = levels
        found: list[Reading] = [*left_out]
        unknown: list[str] = []
        for device, mount in devices.items():
            answer = answers.get(self.mounts.reach(mount), {})
            if "usage" in answer and _is_of(mount, answer["device"]):
                found += full.judge(mount, device, full.Usage(*answer["usage"]), levels)
            else:
                unknown.append(device)
        # What was never seen holds up no other: conditions of a kind clear together.
        lost = len(unknown) == len(devices) > 0 or any(full.was_said(device, levels) for device in unknown)
        return [*found, NotMeasured(frozenset({Kind.STORAGE_FULL}))] if lost else found


def _is_of(mount: Mount, device: str) -> bool:
    """Tell whether the path led to *mount*, or to what hides it from us; each subvolume of btrfs has its own number."""
    return device == mount.device or mount.kind == "btrfs"
