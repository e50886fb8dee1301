"""What is mounted on the node: the kernel's list, each file system once.

A reader; it decides which list is the node's own and which of many mounts of a file system stands for it. It must not
know what is wrong with a mount.

Source: proc_pid_mountinfo(5). A container's overlays, bind mounts and secrets repeat few devices by the hundred.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from agent.kernel_files import link_name

LONGEST = 8 << 20  # bytes; a node with 250 pods has some thousand mounts of 200 bytes
_OWN = Path("/proc")
_ESCAPED = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """One mount. ``path`` is as the node sees it; ``options`` are the mount's, ``super_options`` the file system's.

    ``closed``: the oldest mount of the file system is itself read-only, as only somebody who remounts it makes it.
    """

    device: str  # major:minor
    root: str
    path: str
    options: frozenset[str]
    kind: str
    source: str
    super_options: frozenset[str]
    closed: bool = False


@dataclass(frozen=True, slots=True)
class MountList:
    """The node's mounts, and the folder below which their paths are found by this process."""

    procfs: Path
    below: str

    def read(self, kinds: Collection[str]) -> list[Mount]:
        """Return each file system of these kinds once; OSError when the list cannot be read."""
        return by_device(parse(self._text().decode("utf-8", "surrogateescape"), kinds))

    def _text(self) -> bytes:
        """The list of the first process: systemd shows its services one in which all is read-only, or hidden."""
        try:
            return _head(self.procfs / "1/mountinfo")
        except OSError:
            if self.procfs != _OWN:
                raise
            return _head(self.procfs / "self/mountinfo")

    def reach(self, mount: Mount) -> str:
        """Return the path by which this process reaches *mount*."""
        return self.below + mount.path if self.below else mount.path


def mounts_of_node(procfs: Path) -> MountList:
    """Return where the node's mounts are listed, and reached: by the root of its first process if that is not ours.

    To follow that root takes CAP_SYS_PTRACE. Without it our own paths are taken; who asks compares the devices.
    """
    first = procfs / "1"
    return MountList(procfs, "" if procfs == _OWN and not _is_elsewhere(first) else str(first / "root"))


def _is_elsewhere(first: Path) -> bool:
    try:
        return (first / "ns/mnt").readlink() != (_OWN / "self/ns/mnt").readlink()
    except OSError:
        return False


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LONGEST)


# 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
def parse(text: str, kinds: Collection[str]) -> list[Mount]:
    """Return the mounts of these kinds that *text* lists; a line in another form is passed over."""
    return [mount for line in text.splitlines() if (mount := _parse_line(line, kinds)) is not None]


def _parse_line(line: str, kinds: Collection[str]) -> Mount | None:
    before, _, after = line.partition(" - ")
    rest = after.split(" ")
    if rest[0] not in kinds:
        return None  # as most: overlays and secrets of containers
    fields = before.split(" ")
    if len(fields) < 6 or len(rest) < 3:  # noqa: PLR2004 - the fields that are read
        return None
    return Mount(
        device=fields[2],
        root=_plain(fields[3]),
        path=_plain(fields[4]),
        options=frozenset(fields[5].split(",")),
        kind=rest[0],
        source=_plain(rest[1]),
        super_options=frozenset(rest[2].split(",")),
    )


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), text)


def by_device(mounts: Iterable[Mount]) -> list[Mount]:
    """Return for each file system the mount that stands for it: writable, of its root rather than a part, short.

    The kernel lists mounts in the order in which they were made.
    """
    chosen: dict[str, Mount] = {}
    closed: dict[str, bool] = {}
    for mount in mounts:
        closed.setdefault(mount.device, "ro" in mount.options)
        held = chosen.get(mount.device)
        if held is None or _rank(mount) < _rank(held):
            chosen[mount.device] = mount
    return [replace(mount, closed=True) if closed[mount.device] else mount for mount in chosen.values()]


def _rank(mount: Mount) -> tuple[bool, bool, int]:
    return ("ro" in mount.options, mount.root != "/", len(mount.path))


def device_name(mount: Mount, sysfs: Path) -> str:
    """Return the device as the kernel's log names it (`nvme1n1`, `dm-0`), or what tells it from others without one."""
    block = link_name(sysfs / "dev/block" / mount.device)
    if block or mount.source.startswith("/dev/"):
        return block or mount.source.rpartition("/")[2]
    return mount.path if mount.source in {mount.kind, "none"} else mount.source
