"""The host itself: processors and the kernel; and, in `memory`, what is wrong with its memory.

Decides from the kernel's own words; one record is one fault. Sources stand at each rule (files of the Linux kernel). It
must not know containers or jobs.
"""

from agent.parsers.memory import MEMORY_RULES, OOM_RULES
from agent.parsers.rules import rule, table
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

_NODE, _CPU, _PROCESS = ComponentType.NODE, ComponentType.CPU, ComponentType.PROCESS
_TASK = r"(?P<process>[^\n]{1,64}?):(?P<pid>[0-9]{1,10})"

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
    # arch/x86/mm/fault.c, lib/bug.c, mm/page_alloc.c bad_page; arch/{x86/kernel/dumpstack,arm64/kernel/traps}.c
    # __die: "%s: %04lx [#%d]" with any word before it (Oops, divide error, invalid opcode, Internal error: ...)
    rule(
        Kind.HOST_OOPS,
        Severity.CRITICAL,
        _NODE,
        r"BUG: unable to handle (?:kernel |page )",
        r"BUG: kernel NULL pointer dereference",
        r"BUG: Bad page (?:state|map) in process",
        r"(?:^|\n)[A-Za-z][A-Za-z0-9 ,:-]{2,120}?: [0-9a-f]{1,16} \[#[0-9]{1,4}\]",
        r"general protection fault,[^\n]{0,120}: [0-9a-f]{4} \[#[0-9]{1,4}\]",
        r"kernel BUG at [^\n]{1,120}!",
        r"Unable to handle kernel [^\n]{1,60} at virtual address",
        words=("BUG: ", "BUG at", " [#", "nable to handle kernel"),
    ),
    # kernel/watchdog.c: "BUG: soft lockup - CPU#%d stuck for %us! [%s:%d]"
    rule(
        Kind.HOST_SOFT_LOCKUP,
        Severity.ERROR,
        _CPU,
        rf"BUG: soft lockup - CPU#(?P<index>[0-9]{{1,5}}) stuck for (?P<seconds>[0-9]{{1,6}})s!(?: \[{_TASK}\])?",
        words=("BUG: soft lockup",),
    ),
    # kernel/watchdog.c: "Watchdog detected hard LOCKUP on cpu %d"; arch/powerpc/kernel/watchdog.c
    rule(
        Kind.HOST_HARD_LOCKUP,
        Severity.CRITICAL,
        _CPU,
        r"Watchdog detected hard LOCKUP on cpu ?(?P<index>[0-9]{1,5})",
        r"watchdog: CPU [0-9]{1,5} (?:self-detected hard LOCKUP|detected hard LOCKUP on other CPUs|Hard LOCKUP)",
        words=("LOCKUP",),
    ),
    # kernel/rcu/tree_stall.h and tree_exp.h, kernel/rcu/tasks.h
    rule(
        Kind.HOST_RCU_STALL,
        Severity.ERROR,
        _CPU,
        r"rcu\w{0,24} (?:self-)?detected (?:expedited )?stalls? on (?:CPU|tasks)",
        r"rcu\w{0,24} kthread starved for [0-9]{1,12} jiffies",
        r"rcu\w{0,24} kthread timer wakeup didn't happen for [0-9]{1,12} jiffies",
        words=("detected stall", "detected expedited stall", "kthread starved", "kthread timer wakeup"),
    ),
    # kernel/hung_task.c: "INFO: task %s:%d blocked for more than %ld seconds.", since 6.19 "blocked in I/O wait for"
    rule(
        Kind.HOST_HUNG_TASK,
        Severity.ERROR,
        _PROCESS,
        rf"\btask {_TASK} blocked (?:in I/O wait )?for more than (?P<seconds>[0-9]{{1,6}}) s",
        words=("for more than",),
    ),
)
_RESOURCES = (
    # fs/file_table.c; kernel/cgroup/pids.c; net/netfilter/nf_conntrack_core.c; net/ipv4/tcp.c; net/core/neighbour.c
    rule(
        Kind.HOST_RESOURCE_EXHAUSTED,
        Severity.ERROR,
        _NODE,
        r"VFS: (?P<resource>file-max) limit [0-9]{1,20} reached",
        r"cgroup: fork rejected by pids controller",
        r"nf_conntrack: (?:nf_conntrack: )?table full, dropping packet",
        r"TCP: out of memory -- consider tuning tcp_mem",
        r"neighbou?r: \w{1,32}: neighbor table overflow!",
        words=("file-max limit", "pids controller", "table full", "consider tuning tcp_mem", "table overflow"),
    ),
    # arch/x86/mm/fault.c show_signal_msg; arch/x86/kernel/traps.c ("traps: %s[%d] %s ip:")
    rule(
        Kind.PROCESS_SEGFAULT,
        Severity.WARNING,
        _PROCESS,
        r"(?:(?P<process>[^\n\[]{1,64})\[(?P<pid>[0-9]{1,10})\]: )?segfault at [0-9a-f]{1,16} (?:ip|rip) "
        r"[^\n]{0,300}?(?: in (?P<library>[^\s\[]{1,120}))?(?:\[|$|\n)",
        words=("segfault at ",),
    ),
    rule(
        Kind.PROCESS_SEGFAULT,
        Severity.WARNING,
        _PROCESS,
        r"traps: (?P<process>[^\n\[]{1,64})\[(?P<pid>[0-9]{1,10})\] (?:general protection|trap [a-z ]{1,32})"
        r"[^\n]{0,200}?(?: in (?P<library>[^\s\[]{1,120}))?(?:\[|$|\n)",
        words=("traps: ",),
    ),
    # arch/arm64/kernel/traps.c arm64_show_signal, old and new wording; kernel/signal.c print_fatal_signal
    rule(
        Kind.PROCESS_SEGFAULT,
        Severity.WARNING,
        _PROCESS,
        r"(?P<process>[^\n\[]{1,64})\[(?P<pid>[0-9]{1,10})\]: unhandled (?:exception: |level [0-3] )"
        r"[^\n]{0,200}?(?: in (?P<library>[^\s\[]{1,120}))?(?:\[|$|\n)",
        r"potentially unexpected fatal signal (?:4|6|7|8|11)\.",
        words=("]: unhandled ", "unexpected fatal signal"),
    ),
)

HOST = table(_KERNEL, OOM_RULES, MEMORY_RULES, _RESOURCES)
