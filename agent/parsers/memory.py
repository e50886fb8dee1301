"""What is wrong with the host's memory: processes killed for want of it, and memory that gives wrong answers.

Sources stand at each rule (files of the Linux kernel). What comes before a kill ("invoked oom-killer", "Task in ..
killed as a result of limit") and after it ("oom_reaper: reaped process") names no victim or names it again: no event.
The word for bad memory is the EDAC driver's where there is one; the machine check that told it of it says less. It must
not know containers.
"""

from agent.parsers.rules import rule
from policies.contract.vocabulary import ComponentType, Kind, Severity

_CPU, _DIMM, _PROCESS = ComponentType.CPU, ComponentType.DIMM, ComponentType.PROCESS
# "Killed process 123 (python) total-vm:", RHEL 6 and 7 "Killed process 123, UID 48, (httpd) total-vm:"
_VICTIM = r"Kill(?:ed)? process (?P<pid>[0-9]{1,10})(?:, UID [0-9]{1,10},)? \((?P<process>[^\n]{1,64}?)\)(?=[\s,.]|$)"
_SUMMARY = r"[^\n]{0,4000}?,task=(?P<process>[^\n]{1,64}?),pid=(?P<pid>[0-9]{1,10})(?:,|$|\s)"
_ON = r"(?:[^\n]{0,80}? )?on (?P<device>[^\s(]{1,80})"

OOM_RULES = (
    # mm/oom_kill.c, dump_oom_summary and __oom_kill_process
    rule(
        Kind.CONTAINER_OOM_KILL,
        Severity.ERROR,
        _PROCESS,
        rf"Memory cgroup out of memory: {_VICTIM}",
        words=("cgroup out of memory: Kill",),
    ),
    rule(
        Kind.CONTAINER_OOM_KILL,
        Severity.ERROR,
        _PROCESS,
        rf"oom-kill:constraint=CONSTRAINT_MEMCG{_SUMMARY}",
        words=("oom-kill:",),
    ),
    rule(Kind.HOST_OOM_KILL, Severity.ERROR, _PROCESS, _VICTIM, words=("Killed process", "Kill process")),
    rule(Kind.HOST_OOM_KILL, Severity.ERROR, _PROCESS, rf"oom-kill:constraint={_SUMMARY}", words=("oom-kill:",)),
)
MEMORY_RULES = (
    # drivers/edac/edac_mc.c: "%d UE %s%son %s (...)"; before 3.6 "UE page 0x%lx, ...", "UE - no information available"
    rule(
        Kind.HOST_MEMORY_UNCORRECTED,
        Severity.CRITICAL,
        _DIMM,
        rf"EDAC (?:\w{{1,16}} )?MC(?P<index>[0-9]{{1,4}}): (?P<errors>[0-9]{{1,9}}) UE {_ON}",
        r"EDAC MC[0-9]{1,4}: UE (?:page|row|- no information)",
        words=("EDAC ",),
    ),
    # arch/x86/kernel/cpu/mce/core.c; mm/memory-failure.c; drivers/firmware/efi/cper.c, drivers/acpi/apei/ghes.c
    rule(
        Kind.HOST_MEMORY_UNCORRECTED,
        Severity.CRITICAL,
        _DIMM,
        r"[Uu]ncorrected hardware memory error",
        r"Memory failure: 0x[0-9a-f]{1,16}: (?:recovery action for|Killing|unhandlable|Sending SIGBUS|already "
        r"hardware)",
        r"mce: Memory error not recovered",
        r"\[Hardware Error\]: {1,8}error_type: [0-9]{1,3}, (?:multi-bit ECC|multi-symbol chipkill ECC)",
        words=("hardware memory error", "Memory failure:", "Memory error not", "error_type: "),
    ),
    rule(
        Kind.HOST_MEMORY_CORRECTED,
        Severity.WARNING,
        _DIMM,
        rf"EDAC (?:\w{{1,16}} )?MC(?P<index>[0-9]{{1,4}}): (?P<errors>[0-9]{{1,9}}) CE {_ON}",
        r"EDAC MC[0-9]{1,4}: CE (?:page|row|- no information)",
        r"\[Hardware Error\]: {1,8}error_type: [0-9]{1,3}, (?:single-bit ECC|single-symbol chipkill|scrub corrected)",
        words=("EDAC ", "error_type: "),
    ),
    # arch/x86/kernel/cpu/mce: what was logged is not said here; the EDAC lines beside it say more. drivers/edac/
    # {mce_amd,skx_common,sb_edac}.c; drivers/firmware/efi/cper.c ("event severity"); mce/intel.c (CMCI storm)
    rule(
        Kind.HOST_MACHINE_CHECK,
        Severity.CRITICAL,
        _CPU,
        r"\[Hardware Error\]: event severity: fatal",
        r"\[Hardware Error\]: (?:System Fatal error|Uncorrected, software)",
        r"mce: \[Hardware Error\]: (?:PANIC|Fatal|Machine check: Processor context corrupt)",
        words=("[Hardware Error]: ",),
    ),
    rule(
        Kind.HOST_MACHINE_CHECK,
        Severity.ERROR,
        _CPU,
        r"\[Hardware Error\]: Machine check events logged",
        r"\[Hardware Error\]: CPU (?P<index>[0-9]{1,5}): Machine Check(?: Exception)?:",
        r"mce: \[Hardware Error\]: Machine check: ",
        r"\[Hardware Error\]: event severity: recoverable",
        r"\[Hardware Error\]: Deferred error",
        r"EDAC \w{1,16} MC[0-9]{1,4}: CPU [0-9]{1,5}: Machine Check Event:",
        r"[Mm]achine [Cc]heck [Ee]xception",
        words=("[Hardware Error]: ", "achine check exception", "achine Check E"),
    ),
    rule(
        Kind.HOST_MACHINE_CHECK,
        Severity.WARNING,
        _CPU,
        r"\[Hardware Error\]: (?:event severity: corrected|Corrected error, no action required)",
        r"CMCI storm detected",
        words=("[Hardware Error]: ", "CMCI storm"),
    ),
)
