"""Which local file systems are nearly full, of bytes or of inodes.

Decides which file systems count and where the lines are. Pure: how they are measured is not its business, nor what lies
on them.
"""

from collections.abc import Collection, Mapping, MutableMapping
from dataclasses import dataclass

from agent.host.disks.mountinfo import Mount
from agent.parsers.sighting import Sighting
from agent.polls.reading import Holds
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Severity

_LOCAL = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs"})
# In memory; full ones stop training as well (NCCL and data loaders share memory through /dev/shm).
_IN_MEMORY = frozenset({"/dev/shm", "/run", "/tmp"})  # noqa: S108 - places that are looked at
_BOOT = "/boot/"  # filled by kernels once, written to by nothing that trains

# kubelet evicts below nodefs.available 10 % and nodefs.inodesFree 5 % (its defaults, "Node-pressure Eviction"); ext4
# keeps 5 % for root by default, which statvfs does not call available. A line is left two points below it.
_WARNING = {"bytes": 90.0, "inodes": 95.0}
_ERROR = {"bytes": 97.0, "inodes": 98.0}
_BACK = 2.0
_LITTLE = 1 << 30  # bytes: less does not hold one shard of a checkpoint


@dataclass(frozen=True, slots=True)
class Usage:
    """One file system: bytes and inodes, all and available to users; ``inodes`` is 0 where there is no such limit."""

    size: int
    used: int
    available: int
    inodes: int
    inodes_available: int

    def used_percent(self, what: str) -> float:
        """Return how full it is, as df(1) says it: of what users can have."""
        if what == "bytes":
            return 100 * self.used / (self.used + self.available) if self.used + self.available else 0.0
        return 100 * (1 - self.inodes_available / self.inodes) if self.inodes else 0.0


KINDS = _LOCAL | {"tmpfs"}


def counts(mount: Mount) -> bool:
    """Tell whether *mount* is a local file system that somebody may fill."""
    if "ro" in mount.options | mount.super_options or f"{mount.path}/".startswith(_BOOT):
        return False
    return mount.kind in _LOCAL or (mount.kind == "tmpfs" and mount.path in _IN_MEMORY)


def judge(mount: Mount, device: str, usage: Usage, levels: MutableMapping[str, str]) -> list[Holds]:
    """Return what is full of *mount*; *levels* holds what was said, so that nothing flutters about a line."""
    found: list[Holds] = []
    for what, free in {"bytes": usage.available, "inodes": usage.inodes_available}.items():
        key = f"{device} {what}"
        severity = _severity(what, usage, levels.pop(key, None))
        if severity is None:
            continue
        levels[key] = severity.value
        percent = round(usage.used_percent(what), 1)
        attributes: dict[str, Scalar] = {"mount": mount.path, "device": device, "resource": what}
        attributes["used_percent"] = percent
        attributes["free_bytes" if what == "bytes" else "free_inodes"] = free
        sighting = Sighting(Kind.STORAGE_FULL, severity, Component(type=ComponentType.MOUNT), attributes)
        found.append(Holds(sighting, f"{mount.path} is {percent} % full of {what}", again=3600.0))
    return found


def still_there(levels: Mapping[str, str], devices: Collection[str]) -> dict[str, str]:
    """Return what was said of *devices*, and forget the others: they are no longer mounted."""
    return {key: level for key, level in levels.items() if key.rpartition(" ")[0] in devices}


def was_said(device: str, levels: Mapping[str, str]) -> bool:
    """Tell whether *device* was full when it was last seen."""
    return any(f"{device} {what}" in levels for what in _WARNING)


def _severity(what: str, usage: Usage, before: str | None) -> Severity | None:
    percent = usage.used_percent(what)
    error = _ERROR[what] - (_BACK if before == Severity.ERROR else 0.0)
    warning = _WARNING[what] - (_BACK if before else 0.0)
    if percent >= error or (what == "bytes" and percent >= warning and usage.available < _LITTLE):
        return Severity.ERROR
    return Severity.WARNING if percent >= warning else None
