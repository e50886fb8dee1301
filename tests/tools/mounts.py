"""Lines of mountinfo in tests."""

from agent.host.disks.mountinfo import Mount, parse

KINDS = {"ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "squashfs", "iso9660", "nfs", "nfs4", "lustre", "autofs"}


def mounts(text: str) -> list[Mount]:
    """Return what *text* lists, of any kind."""
    return parse(text, KINDS)


def mount(line: str) -> Mount:
    """Return the mount of one line."""
    return mounts(line)[0]
