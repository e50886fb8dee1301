"""What an agent of the fleet is told: its settings as environment variables, and whom it speaks to AWS as.

The principal is the node role, so that what agents call is held against the policy that the stack gives out for nodes.
"""

import os
from collections.abc import Mapping

from local.aws.server import EmbeddedAws
from local.fleet.infrastructure import NODE_ROLE, Site
from local.fleet.machines import Machine

_PREFIX = "RELIGHT_AGENT_"
# Kept from the caller: where programs and temporary files are. Nothing of an account, nothing of a home.
_KEPT = ("PATH", "TMPDIR", "LANG", "LC_ALL")


def agent_environment(
    aws: EmbeddedAws, outputs: Mapping[str, str], site: Site, machine: Machine, heartbeat_seconds: float
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
        "SPOOL_DIR": str(machine.spool),
        "HEARTBEAT_SECONDS": str(heartbeat_seconds),
    }
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, **aws.environment(NODE_ROLE), **{_PREFIX + name: value for name, value in settings.items()}}
