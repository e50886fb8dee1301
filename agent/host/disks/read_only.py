"""Which file systems the kernel took the right to write from.

A file system that finds itself broken turns read-only for all, while each mount of it still says rw: that contradiction
is the sign. Where somebody mounts or remounts read-only both say ro, and that is no fault. Bind mounts of it, which
containers have by the dozen, still say rw then: the oldest mount counts. Two more things are asked, since a read-only
device mounted by a sloppy program looks alike: that it is a file system one writes to, and that it was meant to be (it
was writable in this boot, or has an `errors=` rule, or stands in fstab without ro).

Pure. It must not know what broke the file system; the kernel's log tells that.
"""

from collections.abc import Collection

from agent.host.disks.mountinfo import Mount
from agent.parsers.sighting import Sighting
from agent.polls.reading import Holds
from policies.contract.events import Component
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

KINDS = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat"})
# fs/ext4/super.c: since Linux 6.15 ext4 keeps saying rw and adds this word (seen on 6.18 after a forced abort).
_EMERGENCY = "emergency_ro"


def is_writable(mount: Mount) -> bool:
    """Tell whether *mount* is of a file system that one writes to, and can."""
    return mount.kind in KINDS and not {"ro", _EMERGENCY} & mount.super_options


def judge(mount: Mount, device: str, *, meant: bool) -> Holds | None:
    """Return the fault of *mount*; *meant*: it was writable before, or somebody wrote down that it should be."""
    if mount.kind not in KINDS or is_writable(mount) or "ro" in mount.options:
        return None
    if mount.closed and _EMERGENCY not in mount.super_options:
        return None
    if not (meant or _EMERGENCY in mount.super_options or "errors=remount-ro" in mount.super_options):
        return None
    sighting = Sighting(
        Kind.STORAGE_READ_ONLY,
        Severity.CRITICAL,
        Component(type=ComponentType.MOUNT),
        {"mount": mount.path, "device": device},
        Persistence.PERMANENT,
    )
    return Holds(sighting, f"the kernel made {mount.path} ({device}) read-only", again=3600.0)


def meant_writable(fstab: str) -> Collection[str]:
    """Return the mount points that *fstab* (fstab(5)) mounts for writing."""
    lines = (line.split() for line in fstab.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    return {fields[1] for fields in lines if len(fields) > 3 and "ro" not in fields[3].split(",")}  # noqa: PLR2004
