"""Disks, file systems and file servers, in the kernel's words.

Sources stand at each rule (files of the Linux kernel, and of Lustre's client). It must not know which path holds
checkpoints.
"""

from agent.parsers.rules import first_match, rule
from agent.parsers.sighting import Sighting
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

_DISK, _MOUNT = ComponentType.DISK, ComponentType.MOUNT
_DEVICE = r"(?P<device>[\w!.-]{1,32})"

_RULES = (
    # fs/ext4/super.c, fs/btrfs/super.c: "Remounting filesystem read-only"
    rule(
        Kind.STORAGE_READ_ONLY,
        Severity.CRITICAL,
        _MOUNT,
        rf"(?:\({_DEVICE}\): )?Remounting filesystem read-only",
        persistence=Persistence.PERMANENT,
        words=("read-only",),
    ),
    # drivers/md/raid*.c; drivers/nvme/host/pci.c; drivers/scsi/scsi_lib.c
    rule(
        Kind.STORAGE_DEVICE_FAILED,
        Severity.CRITICAL,
        _DISK,
        rf"Disk failure on {_DEVICE}(?:,| detected)",
        persistence=Persistence.PERMANENT,
        words=("Disk failure on ",),
    ),
    rule(
        Kind.STORAGE_DEVICE_FAILED,
        Severity.CRITICAL,
        _DISK,
        rf"nvme {_DEVICE}: (?:Disabling device after reset|Removing after probe|Device not ready; aborting)",
        persistence=Persistence.PERMANENT,
        words=("nvme ",),
    ),
    # drivers/nvme/host/multipath.c: "no available path - failing I/O"
    rule(
        Kind.STORAGE_DEVICE_FAILED,
        Severity.CRITICAL,
        _DISK,
        rf"block {_DEVICE}: no available path - failing I/O",
        words=("no available path",),
    ),
    rule(
        Kind.STORAGE_DEVICE_FAILED,
        Severity.CRITICAL,
        _DISK,
        r"rejecting I/O to (?:offline|dead) device",
        words=("rejecting I/O",),
    ),
    # drivers/nvme/host/pci.c nvme_timeout
    rule(
        Kind.STORAGE_DEVICE_TIMEOUT,
        Severity.ERROR,
        _DISK,
        rf"nvme {_DEVICE}: I/O (?:tag )?[0-9]{{1,9}} [^\n]{{0,80}}?timeout, (?:reset|aborting|disable)"
        r"|nvme [\w-]{1,32}: controller is down; will reset",
        words=("timeout, ", "controller is down"),
    ),
    # fs/ext4/super.c, fs/xfs, fs/btrfs/messages.c
    rule(
        Kind.STORAGE_FILESYSTEM_ERROR,
        Severity.ERROR,
        _MOUNT,
        rf"(?:EXT4-fs \({_DEVICE}\): )?I/O error while writing superblock",
        words=("writing superblock",),
    ),
    rule(
        Kind.STORAGE_FILESYSTEM_ERROR,
        Severity.ERROR,
        _MOUNT,
        rf"(?:EXT4-fs error|BTRFS (?:error|critical)) \(device {_DEVICE}",
        words=("(device ",),
    ),
    rule(
        Kind.STORAGE_FILESYSTEM_ERROR,
        Severity.ERROR,
        _MOUNT,
        rf"XFS \({_DEVICE}\): (?:Internal error|Metadata CRC error|xfs_do_force_shutdown"
        r"|[^\n]{0,60}(?:[Cc]orruption|[Ss]hut(?:ting)? ?down))",
        words=("XFS (",),
    ),
    # fs/jbd2/journal.c
    rule(
        Kind.STORAGE_FILESYSTEM_ERROR,
        Severity.ERROR,
        _MOUNT,
        rf"Aborting journal on device {_DEVICE}|JBD2: Error -[0-9]{{1,4}} detected when updating journal",
        words=("Aborting journal", "JBD2: Error"),
    ),
    # block/blk-core.c blk_status; fs/buffer.c; fs/xfs/xfs_log.c
    rule(
        Kind.STORAGE_IO_ERROR,
        Severity.ERROR,
        _DISK,
        rf"(?:I/O|critical (?:medium|target|space allocation|nexus)) error,? (?:on )?dev(?:ice)? {_DEVICE}",
        words=(" error",),
    ),
    rule(
        Kind.STORAGE_IO_ERROR,
        Severity.ERROR,
        _DISK,
        rf"XFS \({_DEVICE}\): (?:log|metadata) I/O error",
        words=("I/O error",),
    ),
    rule(
        Kind.STORAGE_IO_ERROR,
        Severity.ERROR,
        _DISK,
        r"attempt to access beyond end of device",
        words=("beyond end of device",),
    ),
    # drivers/md/dm-thin.c
    rule(
        Kind.STORAGE_FULL,
        Severity.ERROR,
        _DISK,
        r"device-mapper: thin: [^\n]{0,60}(?:out of data space|no free space)",
        words=("thin: ",),
    ),
    # net/sunrpc/clnt.c: "%s: server %s not responding, ..." and "%s: server %s OK"
    rule(
        Kind.STORAGE_NFS_STALLED,
        Severity.ERROR,
        _MOUNT,
        r"nfs: server (?P<server>[^\s]{1,253}) not responding, (?:timed out|still trying)",
        words=("nfs: server ",),
    ),
    rule(
        Kind.STORAGE_NFS_RECOVERED,
        Severity.INFO,
        _MOUNT,
        r"nfs: server (?P<server>[^\s]{1,253}) OK\b",
        words=("nfs: server ",),
    ),
    # lustre/ptlrpc/client.c, import.c
    rule(
        Kind.STORAGE_LUSTRE_EVICTED,
        Severity.ERROR,
        _MOUNT,
        r"[Tt]his client was evicted by (?P<server>[^\s;]{1,120})",
        words=("evicted by ",),
    ),
    rule(
        Kind.STORAGE_LUSTRE_STALLED,
        Severity.ERROR,
        _MOUNT,
        r"ptlrpc_expire_one_request\(\)\) @@@ Request sent has (?:timed out|failed)",
        r"Lustre: [^\n]{0,120}Connection to (?P<server>[^\s]{1,120}) [^\n]{0,120}was lost; in progress operations",
        words=("ptlrpc_expire_one_request", "in progress operations"),
    ),
    rule(
        Kind.STORAGE_LUSTRE_RECOVERED,
        Severity.INFO,
        _MOUNT,
        r"Lustre: [^\n]{0,120}Connection restored to (?P<server>[^\s]{1,120})",
        words=("Connection restored to ",),
    ),
)


def parse_storage(text: str) -> list[Sighting]:
    """Return what *text* says of storage, at most one fault."""
    return first_match(_RULES, text)
