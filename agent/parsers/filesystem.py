"""File systems (ext4, XFS, btrfs) and servers of files (NFS, Lustre), in the kernel's words.

Sources stand at each rule (files of the Linux kernel, and of Lustre's client). A file system that was mounted, replayed
its journal or was shut down by its user has no fault. It must not know which path holds checkpoints.
"""

from agent.parsers.rules import rule
from policies.contract.vocabulary import ComponentType, Kind, Severity

_DISK, _MOUNT = ComponentType.DISK, ComponentType.MOUNT
_DEVICE = r"(?P<device>[\w!.-]{1,32})"

FILESYSTEM_RULES = (
    # fs/ext4/super.c
    rule(
        Kind.STORAGE_FILESYSTEM_ERROR,
        Severity.ERROR,
        _MOUNT,
        rf"(?:EXT4-fs \({_DEVICE}\): )?I/O error while writing superblock",
        words=("writing superblock",),
    ),
    # fs/ext4/super.c __ext4_error; fs/btrfs/messages.c, __btrfs_handle_fs_error ("BTRFS: error (device %s: state A)")
    rule(
        Kind.STORAGE_FILESYSTEM_ERROR,
        Severity.ERROR,
        _MOUNT,
        rf"(?:EXT[234]-fs error|BTRFS:? (?:error|critical)) \(device {_DEVICE}",
        r"EXT4-fs \([\w!.-]{1,32}\): (?:Delayed block allocation failed|failed to convert unwritten extents)",
        r"BTRFS warning \(device [\w!.-]{1,32}[^)\n]{0,32}\): [^\n]{0,40}csum failed",
        words=(" (device ", "Delayed block", "unwritten extents"),
    ),
    # fs/xfs/xfs_log.c, xfs_buf.c, xfs_aops.c, xfs_iomap.c: what the device refused; ahead of the words on corruption
    rule(
        Kind.STORAGE_IO_ERROR,
        Severity.ERROR,
        _DISK,
        rf"XFS \({_DEVICE}\): (?:log I/O error|metadata I/O error|writeback error|xfs_log_force: error -?[0-9])",
        words=("XFS (",),
    ),
    # fs/xfs/xfs_fsops.c xfs_do_force_shutdown, xfs_error.c, libxfs
    rule(
        Kind.STORAGE_FILESYSTEM_ERROR,
        Severity.ERROR,
        _MOUNT,
        rf"XFS \({_DEVICE}\): (?:Internal error|Metadata CRC error|Metadata corruption|xfs_do_force_shutdown"
        r"|(?!User initiated)[^\n]{0,60}?(?:[Cc]orruption|[Ss]hut(?:ting)? ?down))",
        words=("XFS (",),
    ),
    # fs/jbd2/journal.c: "%pg-%lu" with the journal's inode, 8 on ext4; a journal on a device of its own has that alone
    rule(
        Kind.STORAGE_FILESYSTEM_ERROR,
        Severity.ERROR,
        _MOUNT,
        r"Aborting journal on device (?P<device>[\w!.-]{1,32}?)(?:(?<!dm)-8)?\.(?:\s|$)",
        r"JBD2: Error -[0-9]{1,4} detected when updating journal",
        words=("Aborting journal", "JBD2: Error"),
    ),
)
SERVER_RULES = (
    # net/sunrpc/clnt.c: "%s: server %s not responding, ..." and "%s: server %s OK"; the program is nfs, lockd, nfsacl
    rule(
        Kind.STORAGE_NFS_STALLED,
        Severity.ERROR,
        _MOUNT,
        r"\b(?:nfs|lockd|nfsacl): server (?P<server>[^\s]{1,253}) not responding, (?:timed out|still trying)",
        words=(" not responding, ",),
    ),
    rule(
        Kind.STORAGE_NFS_RECOVERED,
        Severity.INFO,
        _MOUNT,
        r"\b(?:nfs|lockd|nfsacl): server (?P<server>[^\s]{1,253}) OK\b",
        words=(": server ",),
    ),
    # lustre/ptlrpc/{client,import}.c, lustre/include/uapi/linux/lustre/lustre_ver.h: messages 167-0, 166-1, 11-0
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
        r"Lustre(?:Error)?: [^\n]{0,160}Connection to (?:service )?(?P<server>[^\s]{1,120}) [^\n]{0,120}was lost; "
        r"in progress",
        r"LustreError: [^\n]{0,160}operation (?:ost|mds|mgs|ldlm|obd)_\w{2,24} to node [^\s]{1,120} failed: rc = -",
        r"LustreError: [^\n]{0,160}Communicating with [^\s]{1,120}, operation (?:ost|mds|mgs|ldlm|obd)_\w{2,24} "
        r"failed with -",
        r"LNet(?:Error)?: [^\n]{0,160}(?:Timed out tx: |Timed out RDMA with )",
        words=("Lustre", "ptlrpc_expire_one_request", "LNet"),
    ),
    rule(
        Kind.STORAGE_LUSTRE_RECOVERED,
        Severity.INFO,
        _MOUNT,
        r"Lustre: [^\n]{0,160}Connection restored to (?:service )?(?P<server>[^\s]{1,120})",
        words=("Lustre",),
    ),
)
