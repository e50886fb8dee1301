"""What the services of a node say: container runtime, kubelet, Slurm's daemon, network manager, fabric manager, IMEX.

Decides by program, since one program's words mean nothing in another's mouth; the lines are those that programs write
to the journal, to syslog or to files of their own. It must not know where a line stood.

Sources stand at each rule. Virtual interfaces come and go with every pod, so only physical ones are told of.
"""

from collections.abc import Sequence

from agent.kernel_log.record import KernelRecord
from agent.parsers.registry import parse_sightings
from agent.parsers.rules import Rule, first_match, rule
from agent.parsers.sighting import Sighting
from policies.contract.vocabulary import ComponentType, Kind, Severity

_NODE, _NIC, _CONTAINER, _PROCESS = (
    ComponentType.NODE,
    ComponentType.NIC,
    ComponentType.CONTAINER,
    ComponentType.PROCESS,
)
_STEP = r"(?P<step_id>[\w+]{1,32}(?:\.\w{1,32})?)"
_PHYSICAL = r"(?P<device>(?:en[opsxP]|eth|ib|mlx|rdma|efa|bond|hsn)\w{0,28}(?:np[0-9]{1,3})?)"
TEXT_LIMIT = 16 * 1024

# containerd internal/cri/server/events.go and podsandbox; github.com/containerd/log writes level=.. msg="..":
#   level=info msg="TaskOOM event container_id:\"3f0c..\"", older: &TaskOOM{ContainerID:3f0c..,
#   level=info msg="TaskExit event in podsandbox handler container_id:\"..\" id:\"..\" pid:3072 exit_status:137 ..
_CONTAINERD = (
    rule(
        Kind.CONTAINER_OOM_KILL,
        Severity.ERROR,
        _CONTAINER,
        r"TaskOOM event[^\n]{0,40}?(?:container_id:\W{0,2}|ContainerID:)(?P<container>[0-9a-f]{12,64})",
        words=("TaskOOM event",),
    ),
    rule(
        Kind.CONTAINER_EXITED,
        Severity.WARNING,
        _CONTAINER,
        r"TaskExit event[^\n]{0,60}?container_id:\W{0,2}(?P<container>[0-9a-f]{12,64})[^\n]{0,120}? "
        r"pid:(?P<pid>[0-9]{1,10}) exit_status:(?P<exit_code>[1-9][0-9]{0,3})",
        words=("exit_status:",),
    ),
    rule(
        Kind.CONTAINER_RUNTIME_DOWN,
        Severity.ERROR,
        _NODE,
        r"level=fatal\b|^panic: |^fatal error: ",
        words=("level=fatal", "panic: ", "fatal error: "),
    ),
)
# kubernetes pkg/kubelet: kubelet.go (syncLoop), setters.go, kubelet_node_status.go, eviction/eviction_manager.go
_KUBELET = (
    rule(
        Kind.CONTAINER_RUNTIME_DOWN,
        Severity.ERROR,
        _NODE,
        r"Skipping pod synchronization[^\n]{0,200}(?:container runtime is down|PLEG is not healthy)",
        words=("Skipping pod synchronization",),
    ),
    rule(
        Kind.NODE_NOT_READY,
        Severity.ERROR,
        _NODE,
        r"Node became not ready[^\n]{0,600}",
        r'event="NodeNotReady"',
        words=("Node became not ready", "NodeNotReady"),
    ),
    rule(Kind.NODE_RECOVERED, Severity.INFO, _NODE, r'event="NodeReady"', words=('event="NodeReady"',)),
    rule(
        Kind.POD_EVICTED,
        Severity.WARNING,
        _NODE,
        r'Eviction manager: pod is evicted successfully" pod="(?P<pod>[^"\n]{1,320})"',
        words=("pod is evicted successfully",),
    ),
    rule(
        Kind.HOST_RESOURCE_EXHAUSTED,
        Severity.ERROR,
        _NODE,
        r'Eviction manager: (?:attempting to reclaim|must evict pod\(s\) to reclaim)" '
        r'resourceName="(?P<resource>[\w.-]{1,64})"',
        words=("Eviction manager: ",),
    ),
)
# systemd src/network/networkd-link.c, link_carrier_gained and link_carrier_lost
_NETWORKD = (
    rule(Kind.NETWORK_LINK_DOWN, Severity.ERROR, _NIC, rf"^{_PHYSICAL}: Lost carrier", words=(": Lost carrier",)),
    rule(Kind.NETWORK_LINK_UP, Severity.INFO, _NIC, rf"^{_PHYSICAL}: Gained carrier", words=(": Gained carrier",)),
)
# slurm src/slurmd/slurmd/req.c and slurmd.c, src/slurmd/slurmstepd/mgr.c and req.c
_SLURM = (
    rule(
        Kind.CONTAINER_OOM_KILL,
        Severity.ERROR,
        _PROCESS,
        r"Detected [0-9]{1,9} oom[_-]kill events? in (?:StepId=)?(?P<step_id>[\w+]{1,32}(?:\.\w{1,32})?)",
        r"Detected [0-9]{1,9} oom-kill event\(s\) in (?:step |StepId=)(?P<step_name>[\w+]{1,32}(?:\.\w{1,32})?)",
        words=("oom_kill event", "oom-kill event"),
    ),
    rule(
        Kind.PROCESS_HUNG,
        Severity.ERROR,
        _PROCESS,
        rf"(?:STEP|JOB) {_STEP} STEPD TERMINATED ON ",
        words=("STEPD TERMINATED",),
    ),
    rule(
        Kind.JOB_FAILED,
        Severity.ERROR,
        ComponentType.JOB,
        rf"\*\*\* (?:STEP|JOB) {_STEP} ON [^\n]{{1,300}} CANCELLED AT [^\n]{{1,40}} DUE TO NODE FAILURE",
        words=("DUE TO NODE FAILURE",),
    ),
    rule(
        Kind.TRAINING_KILLED,
        Severity.WARNING,
        _PROCESS,
        rf"\*\*\* (?:STEP|JOB) {_STEP} ON [^\n]{{1,300}} CANCELLED AT ",
        words=("CANCELLED AT ",),
    ),
    rule(  # the node is drained by slurmctld for it
        Kind.NODE_NOT_READY,
        Severity.ERROR,
        _NODE,
        r"(?:health_check|[Pp]rolog|[Ee]pilog) failed:? (?:rc|status)[:=](?P<exit_code>[0-9]{1,6})",
        r"^fatal: ",
        words=("failed", "fatal: "),
    ),
)
# Fabric Manager's and IMEX's own files: [Aug 04 2025 08:09:05] [ERROR] [tid 12] ..
_IMEX = (rule(Kind.IMEX_ERROR, Severity.ERROR, _NODE, r"\[(?:ERROR|CRITICAL|FATAL)\]", words=("[ERROR]", "AL]")),)
# systemd src/core/service.c and unit.c, service_enter_dead ("%s: Failed with result '%s'.")
_FAILED = r"^(?P<unit>[\w@.:-]{1,128}?)\.service: (?:Failed with result|Main process exited, code=(?:killed|dumped))"
_WHAT_FAILS = {
    "containerd": Kind.CONTAINER_RUNTIME_DOWN,
    "docker": Kind.CONTAINER_RUNTIME_DOWN,
    "crio": Kind.CONTAINER_RUNTIME_DOWN,
    "nvidia-fabricmanager": Kind.FABRIC_MANAGER_ERROR,
    "nvidia-imex": Kind.IMEX_ERROR,
    "kubelet": Kind.NODE_NOT_READY,
    "slurmd": Kind.NODE_NOT_READY,
}
_MANAGER = tuple(
    rule(kind, Severity.ERROR, _NODE, _FAILED.replace(r"[\w@.:-]{1,128}?", unit), words=(f"{unit}.service: ",))
    for unit, kind in _WHAT_FAILS.items()
)
_FABRIC = ("nv-fabricmanager", "nvidia-fabricmanager", "fabricmanager")

PROGRAMS: dict[str, Sequence[Rule]] = {
    "containerd": _CONTAINERD,
    "kubelet": _KUBELET,
    "systemd-networkd": _NETWORKD,
    "slurmd": _SLURM,
    "slurmstepd": _SLURM,
    "nvidia-imex": _IMEX,
    "systemd": _MANAGER,
}


def parse_program(program: str, text: str) -> list[Sighting]:
    """Return what a line of *program* (`containerd`, ..) tells of, of an unknown one nothing; never raises."""
    text = text[:TEXT_LIMIT]
    if program in _FABRIC:
        return parse_sightings(KernelRecord(text, tag=_FABRIC[0]))
    return first_match(PROGRAMS.get(program, ()), text)
