"""What an agent of the fleet is told: its settings as environment variables, and whom it speaks to AWS as.

The principal is the node role with the instance as its session, so that what agents call is held against the policy
that the stack gives out for nodes, and what is a node's own against that instance.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from local.aws.server import EmbeddedAws
from local.fleet.infrastructure import NODE_ROLE, Site
from local.fleet.machines import Machine

_PREFIX = "RELIGHT_AGENT_"
_LOOK_SECONDS = 0.3  # for commands; 30 s in an account
# Kept from the caller: where programs and temporary files are. Nothing of an account, nothing of a home.
_KEPT = ("PATH", "TMPDIR", "LANG", "LC_ALL")


@dataclass(frozen=True, slots=True)
class Waits:
    """Real seconds. The simulated job steps twenty times a second, so it is missed sooner than one in an account."""

    heartbeat: float
    hang_after: float


def agent_environment(
    aws: EmbeddedAws, outputs: Mapping[str, str], site: Site, machine: Machine, waits: Waits
) -> dict[str, str]:
    """The whole environment of one agent."""
    settings = {
        "CLUSTER": site.cluster,
        "STREAM": outputs["FaultsStream"],
        "OVERFLOW_QUEUE_URL": outputs["OverflowQueueUrl"],
        "REGION": aws.region,
        "NODE_NAME": machine.name,
        "INSTANCE_ID": machine.instance_id,
        "INSTANCE_TYPE": machine.instance_type,
        "AVAILABILITY_ZONE": machine.zone,
        "BOOT_ID": machine.boot_id,
        "KERNEL_LOG": str(machine.kernel_log.path),
        "KERNEL_LOG_START": "beginning",
        "JOURNAL_UNITS": "",  # a simulated node has no services, and ours are not its
        "SERVICE_LOGS": "",
        "JOB_FILE": str(machine.job_file),
        "PROCFS": str(machine.procfs),
        "SYSFS": str(machine.sysfs),
        # Disks, clock, GPUs, runtime and kubelet are those of the machine that all nodes run on, and not the nodes'.
        "HOST_CHECKS": "false",
        "NVML": "off",
        "DCGM": "off",
        "CONTAINER_RUNTIME_SOCKET": "",
        "KUBELET_HEALTH": "",
        "BOOT_GRACE_SECONDS": "0",
        "BEATS": str(machine.beats),
        "HANG_AFTER_SECONDS": str(waits.hang_after),
        "SLOW_PHASE_SECONDS": str(waits.hang_after * 2),
        "SPOOL_DIR": str(machine.spool),
        "STATUS_SOCKET": "",  # many agents on one machine
        "EVIDENCE_PER_HOUR": "0",  # what the node's processes do is not in the simulation
        "HEARTBEAT_SECONDS": str(waits.heartbeat),
        "EVIDENCE_DIR": str(machine.folder / "evidence"),
        "EVIDENCE_SECONDS": "2",  # a minute, shortened as waits are
        "COMMANDS_TABLE": outputs["CommandsTableArn"],
        "COMMANDS_ALLOWED": "collect_evidence,request_save,reset_gpu,restart_process",
        "COMMANDS_SECONDS": str(_LOOK_SECONDS),
    }
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    kept["PATH"] = f"{machine.gpu_tools.programs}:{kept.get('PATH', os.defpath)}"
    principal = f"{NODE_ROLE}/{machine.instance_id}"
    return {**kept, **aws.environment(principal), **{_PREFIX + name: value for name, value in settings.items()}}
