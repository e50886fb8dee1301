"""What names look like that nobody told of: in a line of a log, and among the attributes of an event.

Decides what counts as a name by its looks. PCI addresses and words of the kernel are none. It must not
replace anything.
"""

import re

from policies.recording.substitutes import Sort

# What is known of a name by its looks alone; of two that begin at the same place the first is taken. Only what stands
# in a group is replaced, and the group says by what. A pattern without one keeps what it matches from those below it.
_HEX = "[0-9a-f]{1,4}"
_SOME = f"(?:{_HEX}(?::{_HEX})*)"
_TLD = "internal|local|localdomain|lan|com|net|org|io|edu|gov|mil|cloud|ai|dev|svc|cluster|corp|amazonaws"
_IP = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}"
_OF_PATH = r"[^\s'\"<>()\[\]{},;:|]"
_FILES = "py|sh|pt|pth|bin|safetensors|ckpt|distcp|yaml|yml|json|toml|ipynb|sqsh|sif"
_NUMBERED = "pid|tgid|ppid|tid|uid|gid|process|thread"
_WHO = "user|username|login|logname|owner|ruser|account"

PATTERNS: tuple[str, ...] = (
    # Places on the PCI bus stay: `0000:3b:00.0`, `PCI:0000:3b:00`, `3b:00.0`.
    r"(?:(?<=PCI:)|(?<![\w:]))(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7](?![\w:])",
    r"(?:(?<=PCI:)|(?<![\w:]))[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}(?!\w|:\w)",
    r"(?P<MOMENT>(?<!\d)\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)",
    r"(?P<ADDRESS>(?<!\w)[a-z][a-z0-9+.-]*://[^\s'\"<>]+)",
    r"(?P<RESOURCE>(?<!\w)arn:[\w-]+:[^\s'\"<>,]+)",
    rf"(?<![\w.])(?P<IPV4>{_IP})@[a-z]\w*",  # a NID of Lustre: 10.0.0.5@tcp
    r"(?P<USER>(?<![\w.+-])[\w.+-]+@\w[\w.-]*)",
    rf"(?<![\w.-])(?P<HOST>\w[\w.-]*):(?P<PATH>/(?:{_OF_PATH}|:)*)",  # server:/export
    rf"(?P<PATH>(?<![\w/.])~?(?:\.{{1,2}})?/{_OF_PATH}+)",
    r"(?P<UUID>(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-z]))",
    r"(?P<MAC>(?<![\w:])(?:[0-9a-f]{2}[:-]){5,}[0-9a-f]{2}(?![\w:]))",
    rf"(?P<IPV6>(?<![\w:])(?=[0-9a-f:]*\d)(?:(?:{_HEX}:){{7}}{_HEX}|{_SOME}?::{_SOME}?)(?![\w:]))",
    rf"(?P<IPV4>(?<![\w.]){_IP}(?!\w|\.\d))",
    r"(?P<HOST>(?<![\w.-])ip-\d+-\d+-\d+-\d+(?:\.[\w-]+)*(?![\w-]))",
    rf"(?P<HOST>(?<![\w.-])\w[\w-]*(?:\.[\w-]+)*\.(?:{_TLD})(?![\w-])(?:\.[\w-]+)*)",
    r"(?P<INSTANCE>(?<![\w-])m?i-[0-9a-f]{8,17}(?![\w-]))",
    r"(?P<RESOURCE>(?<![\w-])[a-z]{1,8}-[0-9a-f]{8}(?:[0-9a-f]{9})?(?![\w-]))",
    r"(?P<NAME>(?<![\w-])\w+)-(?=(?:MDT|OST|MDC|OSC)[0-9a-f]{4})",  # the name of a Lustre file system
    rf"(?P<FILE>(?<![\w.-])[\w.-]+\.(?:{_FILES})(?!\w))",
    r"(?<![a-z])process (?P<PID>\d+)? ?\((?P<PROGRAM>[^)]+)\)",
    rf"(?<![a-z])(?:{_NUMBERED})s?[ =:#'\"(]{{1,3}}(?P<PID>\d+)",
    r"(?<![a-z])task (?P<PROGRAM>[^\s:]+):(?P<PID>\d+)",
    r"(?<![a-z])(?:name|comm|cmd|program|exe)[=:] ?['\"]?(?P<PROGRAM>[^\s,;'\"]+)",
    r"(?<![\w.-])(?P<PROGRAM>[\w.:-]*[a-z][\w.:-]*)\[(?P<PID>\d{3,})\]",
    rf"(?<![a-z])(?:{_WHO})(?:[=:] ?| (?=['\"]))['\"]?(?P<USER>[\w.-]+)",
    r"(?<![a-z])(?:for|by|of) user (?P<USER>[\w.-]+)",
    r"(?<![a-z])(?:serial(?: number| no\.?)?|s/n|sn)[=:# ]{1,3}(?P<SERIAL>\w[\w-]*\d[\w-]*)",
    r"(?P<HEX>(?<![0-9a-z])(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{12,}(?![0-9a-z]))",
    r"(?P<NUMBER>(?<![\w.])\d{10,}(?![\w.]))",
    r"(?P<NAME>(?<![\w./-])[\w.-]+(?:/[\w.-]+)+(?![\w/]))",
)

TECHNICAL = re.compile(
    r"(?:\d+|[a-z]{1,2}|read|write|and|or|off|gpu\d*|cpu\d*)(?:/(?:\d+|[a-z]{1,2}|read|write|and|or|on|off|gpu\d*|cpu\d*))+",
    re.IGNORECASE,
)
"""What is joined by a slash and names nothing: I/O, 94/95, read/write."""

PROGRAMS = re.compile(
    r"(?:<unknown>|python|torchrun|pt_main_thread|pt_\w+|nvidia-[\w-]+|nv-[\w-]+|dcgm[\w-]*|kworker[\w:/-]*|ksoftirqd[\w/]*|systemd[\w-]*"
    r"|containerd[\w-]*|dockerd|kubelet|java|bash|sh|sshd|slurmd|slurmstepd|runc|node|cuda\w*|nccl\w*|ray|mpirun|srun"
    r"|kernel|ptl?rpcd[\w]*|nfsd?|mount|dd|rsync|cp|tar)[\d.]*",
    re.IGNORECASE,
)
"""Programs that run on every such node: their names say nothing of whose it is."""

_ATTRIBUTES: tuple[tuple[str, Sort], ...] = (
    (r"(?:first_|parent_)?(?:pid|ppid|tgid|tid|uid|gid)", Sort.PID),
    (r"(?:slurm_)?job(?:_id|_name)?|workload|run", Sort.JOB),
    (r"namespace", Sort.NAMESPACE),
    (r"cluster(?:_name)?|hyperpod_cluster|domain", Sort.CLUSTER),
    (r"(?:peer|remote|host|hostname|node|node_name|server|machine|address|far_end)", Sort.HOST),
    (r"instance(?:_id)?|new_instance|ec2_instance", Sort.INSTANCE),
    (r"user(?:name)?|owner|login|account(?:_id)?|by_user", Sort.USER),
    (r"mount(?:_point)?|path|paths|checkpoint|cgroup|folder|directory|export|library", Sort.PATH),
    (r"file(?:name)?", Sort.FILE),
    (r".*uuid|boot_id|pod_uid", Sort.UUID),
    (r".*serial(?:_number)?", Sort.SERIAL),
    (r"guid|.*_guid|mac", Sort.MAC),
    (
        r"pod(?:_name)?|container(?:_id|_name)?|step_id|step_name|event_arn|.*_arn|reservation|resource_id|id|event",
        Sort.NAME,
    ),
    (r"process|program|comm|exe", Sort.PROGRAM),
)
_BY_NAME = tuple((re.compile(pattern), sort) for pattern, sort in _ATTRIBUTES)


def sort_of(attribute: str) -> Sort | None:
    """Return what the attribute of this name names; None: nothing that belongs to somebody."""
    return next((sort for pattern, sort in _BY_NAME if pattern.fullmatch(attribute)), None)
