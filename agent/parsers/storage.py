"""Disks and block devices, in the kernel's words; file systems and servers of files are in `filesystem`.

Sources stand at each rule (files of the Linux kernel). Which fault a record tells is decided in the order here, the
worst first. It must not know which path holds checkpoints.
"""

from agent.parsers.filesystem import FILESYSTEM_RULES, SERVER_RULES
from agent.parsers.rules import rule, table
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

_DISK, _MOUNT = ComponentType.DISK, ComponentType.MOUNT
_DEVICE = r"(?P<device>[\w!.-]{1,32})"
# A floppy or an empty tray is asked by every probe of a virtual machine and says I/O error each time.
_REAL_DEVICE = r"(?P<device>(?!fd[0-9]\b|sr[0-9]{1,2}\b)[\w!.-]{1,32})"

_READ_ONLY = (
    # fs/ext4/super.c, fs/btrfs/messages.c, fs/fat/misc.c: what happens to a file system that found itself broken
    rule(
        Kind.STORAGE_READ_ONLY,
        Severity.CRITICAL,
        _MOUNT,
        rf"(?:\({_DEVICE}\): )?Remounting filesystem read-only",
        r"BTRFS info \(device [\w!.-]{1,32}[^)\n]{0,32}\): forced readonly",
        r"-fs \([\w!.-]{1,32}\): Filesystem has been set read-only",
        persistence=Persistence.PERMANENT,
        words=("filesystem read-only", "forced readonly", "set read-only"),
    ),
)
_DEVICES = (
    # drivers/md/raid*.c; drivers/nvme/host/{core,pci}.c; drivers/ata/libata-core.c
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
        rf"nvme {_DEVICE}: (?:Disabling device after reset|Removing after probe|Device not ready; aborting"
        r"|Identify Controller failed|failed to mark controller)",
        r"\bata[0-9]{1,3}\.[0-9]{2}: disabled\b",
        persistence=Persistence.PERMANENT,
        words=("nvme nvme", ": disabled"),
    ),
    # drivers/nvme/host/multipath.c: "no available path - failing I/O"; drivers/scsi/scsi_lib.c
    rule(
        Kind.STORAGE_DEVICE_FAILED,
        Severity.CRITICAL,
        _DISK,
        rf"block {_DEVICE}: no available path - failing I/O",
        r"rejecting I/O to (?:offline|dead) device",
        words=("no available path", "rejecting I/O"),
    ),
    # drivers/nvme/host/pci.c nvme_timeout, nvme_warn_reset, nvme_error_detected: "I/O %d QID %d timeout, aborting"
    rule(
        Kind.STORAGE_DEVICE_TIMEOUT,
        Severity.ERROR,
        _DISK,
        rf"nvme {_DEVICE}: I/O (?:tag )?[0-9]{{1,9}} [^\n]{{0,80}}?timeout, (?:reset|aborting|disable|completion "
        rf"polled)",
        r"nvme [\w-]{1,32}: (?:controller is down; will reset|frozen state error detected, reset)",
        words=("nvme nvme",),
    ),
)
_ERRORS = (
    # block/blk-core.c blk_errors, since 6.0 without "blk_update_request:"; fs/buffer.c; fs/mpage.c
    rule(
        Kind.STORAGE_IO_ERROR,
        Severity.ERROR,
        _DISK,
        r"(?:I/O|critical (?:medium|target|space allocation|nexus)|protection|timeout) error,? (?:on )?dev(?:ice)? "
        rf"{_REAL_DEVICE}",
        r"lost (?:async |sync )?page write due to I/O error on [\w!.-]{1,32}",
        words=("error, dev ", "error on dev", "I/O error on "),
    ),
    # drivers/nvme/host/core.c nvme_log_error: "%s: %s(0x%x) @ LBA %llu, %u blocks, %s (sct 0x%x / sc 0x%x) %s%s%s%s"
    rule(
        Kind.STORAGE_IO_ERROR,
        Severity.ERROR,
        _DISK,
        rf"\b{_DEVICE}: [\w /-]{{1,32}}\(0x[0-9a-f]{{1,2}}\) @ LBA [0-9]{{1,20}}, [0-9]{{1,9}} blocks, "
        rf"[^\n(]{{3,60}}\(sct 0x",
        words=(" @ LBA ",),
    ),
    # drivers/scsi/scsi_logging.c, drivers/ata/libata-eh.c; drivers/md/md.c super_written
    rule(
        Kind.STORAGE_IO_ERROR,
        Severity.ERROR,
        _DISK,
        r"Sense Key : (?:Medium|Hardware) Error",
        r"\bata[0-9]{1,3}\.[0-9]{2}: error: \{ (?:UNC|IDNF)",
        r"md: super_written gets error",
        words=("Medium Error", "Hardware Error", ": error: {", "super_written gets error"),
    ),
    # block/blk-core.c bio_check_eod, fs/buffer.c; fs/jbd2/commit.c; fs/ext4/page-io.c ext4_end_bio
    rule(
        Kind.STORAGE_IO_ERROR,
        Severity.ERROR,
        _DISK,
        r"attempt to access beyond end of device",
        r"JBD2: Detected IO errors while flushing file data on [\w!.-]{1,32}",
        r"EXT4-fs warning \(device [\w!.-]{1,32}\): ext4_end_bio:[0-9]{1,6}: I/O error",
        words=("beyond end of device", "Detected IO errors", ": I/O error"),
    ),
    # drivers/md/dm-thin.c; what programs of the system write into the kernel's log (systemd-journald)
    rule(
        Kind.STORAGE_FULL,
        Severity.ERROR,
        _DISK,
        r"device-mapper: thin: [^\n]{0,60}(?:out[ -]of[ -]data[ -]space|no free space|out[ -]of[ -]metadata[ -]space)",
        r"No space left on device",
        words=("device-mapper: thin: ", "No space left on device"),
    ),
)

STORAGE = table(_READ_ONLY, _DEVICES, FILESYSTEM_RULES, _ERRORS, SERVER_RULES)
