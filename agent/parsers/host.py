"""The host itself: memory, processors, the kernel, and processes that it ended.

Decides from the kernel's own words; one record is one fault. Sources stand at each rule (files of the Linux kernel). It
must not know containers or jobs.
"""

from agent.parsers.rules import first_match, rule
from agent.parsers.sighting import Sighting
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

_NODE, _CPU, _DIMM, _PROCESS = ComponentType.NODE, ComponentType.CPU, ComponentType.DIMM, ComponentType.PROCESS

_KERNEL = (
    # kernel/panic.c: "Kernel panic - not syncing: %s"
    rule(
        Kind.HOST_PANIC,
        Severity.CRITICAL,
        _NODE,
        r"Kernel panic - not syncing(?:: (?P<reason>[^\n]{1,120}))?",
        persistence=Persistence.PERMANENT,
        words=("Kernel panic",),
    ),
    # From arch/x86/mm/fault.c, lib/bug.c, and dumpstack.c and traps.c of arch/x86/kernel
    rule(
        Kind.HOST_OOPS,
        Severity.CRITICAL,
        _NODE,
        r"BUG: unable to handle (?:kernel |page )",
        r"BUG: kernel NULL pointer dereference",
        r"(?:Oops|general protection fault)[^\n]{0,120}?: [0-9a-f]{4} \[#[0-9]{1,4}\]",
        r"kernel BUG at [^\n]{1,120}!",
        r"Internal error: Oops|Unable to handle kernel [^\n]{1,60} at virtual address",
        words=("BUG: ", "BUG at", "Oops", "general protection", "Unable to handle kernel"),
    ),
    # kernel/watchdog.c: "BUG: soft lockup - CPU#%d stuck for %us! [%s:%d]"
    rule(
        Kind.HOST_SOFT_LOCKUP,
        Severity.ERROR,
        _CPU,
        r"BUG: soft lockup - CPU#(?P<index>[0-9]{1,5}) stuck for (?P<seconds>[0-9]{1,6})s!"
        r"(?: \[(?P<process>[^\n]{1,64}?):(?P<pid>[0-9]{1,10})\])?",
        words=("soft lockup",),
    ),
    # kernel/watchdog.c: "Watchdog detected hard LOCKUP on cpu %d"
    rule(
        Kind.HOST_HARD_LOCKUP,
        Severity.CRITICAL,
        _CPU,
        r"Watchdog detected hard LOCKUP on cpu (?P<index>[0-9]{1,5})",
        words=("hard LOCKUP",),
    ),
    # kernel/rcu/tree_stall.h
    rule(
        Kind.HOST_RCU_STALL,
        Severity.ERROR,
        _CPU,
        r"rcu\w{0,16}(?: kthread)? (?:self-)?detected (?:expedited )?stalls? on CPU",
        r"rcu\w{0,16} kthread starved for [0-9]{1,12} jiffies",
        words=("rcu",),
    ),
    # kernel/hung_task.c: "INFO: task %s:%d blocked for more than %ld seconds."
    rule(
        Kind.HOST_HUNG_TASK,
        Severity.ERROR,
        _PROCESS,
        r"INFO: task (?P<process>[^\n]{1,64}?):(?P<pid>[0-9]{1,10}) blocked for more than (?P<seconds>[0-9]{1,6}) s",
        words=("blocked for more than",),
    ),
)
_MEMORY = (
    # mm/oom_kill.c, dump_oom_summary and __oom_kill_process
    rule(
        Kind.CONTAINER_OOM_KILL,
        Severity.ERROR,
        _PROCESS,
        r"Memory cgroup out of memory: Kill(?:ed)? process (?P<pid>[0-9]{1,10}) \((?P<process>[^\n)]{1,64})\)",
        words=("out of memory: Kill",),
    ),
    rule(
        Kind.CONTAINER_OOM_KILL,
        Severity.ERROR,
        _PROCESS,
        r"oom-kill:constraint=CONSTRAINT_MEMCG[^\n]{0,4000}?,task=(?P<process>[^\n]{1,64}?),pid=(?P<pid>[0-9]{1,10}),",
        words=("oom-kill:",),
    ),
    rule(
        Kind.HOST_OOM_KILL,
        Severity.ERROR,
        _PROCESS,
        r"(?:Out of memory: )?Kill(?:ed)? process (?P<pid>[0-9]{1,10}) \((?P<process>[^\n)]{1,64})\)",
        words=("Killed process", "Kill process"),
    ),
    rule(
        Kind.HOST_OOM_KILL,
        Severity.ERROR,
        _PROCESS,
        r"oom-kill:constraint=[^\n]{0,4000}?,task=(?P<process>[^\n]{1,64}?),pid=(?P<pid>[0-9]{1,10}),",
        words=("oom-kill:",),
    ),
    # drivers/edac/edac_mc.c: "%d UE %s%son %s (...)"
    rule(
        Kind.HOST_MEMORY_UNCORRECTED,
        Severity.CRITICAL,
        _DIMM,
        r"EDAC MC(?P<index>[0-9]{1,4}): (?P<errors>[0-9]{1,9}) UE [^\n]{0,80}?on (?P<device>[^\s(]{1,80})",
        words=(" UE ",),
    ),
    rule(
        Kind.HOST_MEMORY_UNCORRECTED,
        Severity.CRITICAL,
        _DIMM,
        r"[Uu]ncorrected hardware memory error",  # arch/x86/kernel/cpu/mce/core.c
        # mm/memory-failure.c
        r"Memory failure: 0x[0-9a-f]{1,16}: (?:recovery action for|Killing|unhandlable|Sending SIGBUS)",
        words=("hardware memory error", "Memory failure:"),
    ),
    rule(
        Kind.HOST_MEMORY_CORRECTED,
        Severity.WARNING,
        _DIMM,
        r"EDAC MC(?P<index>[0-9]{1,4}): (?P<errors>[0-9]{1,9}) CE [^\n]{0,80}?on (?P<device>[^\s(]{1,80})",
        words=(" CE ",),
    ),
    # arch/x86/kernel/cpu/mce: what was logged is not said here; the EDAC lines beside it say more
    rule(
        Kind.HOST_MACHINE_CHECK,
        Severity.ERROR,
        _CPU,
        r"\[Hardware Error\]: Machine check events logged",
        r"\[Hardware Error\]: CPU (?P<index>[0-9]{1,5}): Machine Check(?: Exception)?:",
        r"mce: \[Hardware Error\]: (?:Machine check: |PANIC|Fatal)",
        words=("[Hardware Error]",),
    ),
)
_RESOURCES = (
    # fs/file_table.c; kernel/cgroup/pids.c; net/netfilter/nf_conntrack_core.c; net/ipv4/tcp.c
    rule(
        Kind.HOST_RESOURCE_EXHAUSTED,
        Severity.ERROR,
        _NODE,
        r"VFS: (?P<resource>file-max) limit [0-9]{1,20} reached",
        r"cgroup: fork rejected by pids controller",
        r"nf_conntrack: (?:nf_conntrack: )?table full, dropping packet",
        r"TCP: out of memory -- consider tuning tcp_mem",
        words=("file-max", "pids controller", "table full", "consider tuning tcp_mem"),
    ),
    # arch/x86/mm/fault.c show_signal_msg; arch/x86/kernel/traps.c ("traps: %s[%d] %s ip:")
    rule(
        Kind.PROCESS_SEGFAULT,
        Severity.WARNING,
        _PROCESS,
        r"(?:(?P<process>[^\n\[]{1,64})\[(?P<pid>[0-9]{1,10})\]: )?segfault at [0-9a-f]{1,16} ip "
        r"[^\n]{0,300}?(?: in (?P<library>[^\s\[]{1,120}))?(?:\[|$|\n)",
        words=("segfault at ",),
    ),
    rule(
        Kind.PROCESS_SEGFAULT,
        Severity.WARNING,
        _PROCESS,
        r"traps: (?P<process>[^\n\[]{1,64})\[(?P<pid>[0-9]{1,10})\] (?:general protection|trap [a-z ]{1,32})",
        words=("traps: ",),
    ),
)


def parse_host(text: str) -> list[Sighting]:
    """Return what *text* says of the host: at most one fault of the kernel, of the memory and of what is left."""
    return first_match(_KERNEL, text) or first_match(_MEMORY, text) or first_match(_RESOURCES, text)
