"""What is known of each kind of event before one comes: how bad it is told, of which parts, with which attributes.

Decides how that reads for people. The words are the contract's (`policies/contract/vocabulary.py`), the attributes
those that conditions are checked by (`policies/expressions/attributes.py`); severities and parts are those with which
our own sources tell a kind, and a test holds them against these. It must not know a policy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policies.contract.vocabulary import ComponentType, Kind, Severity
from policies.expressions.attributes import COMMON, TABLE

# What a number is in. What is not here is a count, a code, or the name of something by its number.
UNITS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("allowed_seconds", "idle_seconds", "jump_seconds", "learned_step_seconds", "max_error_seconds"),
            *("offset_seconds", "seconds", "stalled_seconds", "waited_seconds", "within_seconds"),
        ),
        "s",
    ),
    **dict.fromkeys(("percent", "used_percent"), "%"),
    **dict.fromkeys(("free_bytes", "limit_bytes"), "bytes"),
    **dict.fromkeys(("own_mib", "room_mib"), "MiB"),
    **dict.fromkeys(("temperature", "margin", "limit"), "°C"),
    **dict.fromkeys(("width", "full_width"), "PCIe lanes"),
    **dict.fromkeys(("generation", "full_generation"), "PCIe generation"),
    "growth_mib_per_hour": "MiB an hour",
    "replays_a_minute": "a minute",
    "minutes_left": "min",
    "minutes_of_ten": "min",
    "gigabits": "Gbit/s",
    "watts": "W",
}
_TYPES = {"#": "number", "?": "true or false"}


@dataclass(frozen=True)
class Attribute:
    """One attribute: its ``type`` is number, text or true or false; ``unit`` is empty where a number has none."""

    name: str
    type: str
    unit: str = ""

    @classmethod
    def of(cls, word: str) -> "Attribute":
        """Return the attribute that *word* of the table stands for."""
        name = word.rstrip("#?")
        kind = _TYPES.get(word[-1], "text")
        return cls(name, kind, UNITS.get(name, "") if kind == "number" else "")


@dataclass(frozen=True)
class About:
    """One kind. ``attributes`` is None where whoever tells it brings what it likes."""

    kind: Kind
    severities: Sequence[Severity]
    components: Sequence[ComponentType]
    attributes: Sequence[Attribute] | None

    def document(self) -> dict[str, Any]:
        """Return it for machines."""
        attributes = None if self.attributes is None else [_document(each) for each in self.attributes]
        severities, components = ([each.value for each in some] for some in (self.severities, self.components))
        return {"kind": self.kind.value, "severities": severities, "components": components, "attributes": attributes}


def about(kind: Kind) -> About:
    """Return what is known of *kind*."""
    severities, _, components = _TOLD[kind].partition(" of ")
    row = TABLE.get(kind)
    return About(
        kind,
        [Severity(word) for word in severities.split()],
        [ComponentType(word) for word in components.split()],
        None if row is None else [Attribute.of(word) for word in dict.fromkeys(row.split())],
    )


def common() -> Sequence[Attribute]:
    """Return what an event of any kind may bring as well."""
    return [Attribute.of(word) for word in COMMON.split()]


def _document(attribute: Attribute) -> dict[str, Any]:
    return {"name": attribute.name, "type": attribute.type, "unit": attribute.unit or None}


# Kind -> its severities, the mildest first, and the parts that it is told of; none: of the instance, the run or the
# cluster as a whole. What is no fault while a node boots is info then (agent/follow/booting.py).
_TOLD: Mapping[Kind, str] = {
    Kind.GPU_XID: "info warning error critical of gpu",
    Kind.GPU_LOST: "critical of gpu",
    Kind.GPU_INIT_FAILED: "error critical of gpu",
    Kind.GPU_DRIVER_MISMATCH: "error of gpu",
    Kind.GPU_ECC_CORRECTED: "info of gpu",
    Kind.GPU_ECC_UNCORRECTED: "error of gpu",
    Kind.GPU_SRAM_THRESHOLD_EXCEEDED: "error of gpu",
    Kind.GPU_ROW_REMAP_PENDING: "warning of gpu",
    Kind.GPU_ROW_REMAP_FAILED: "critical of gpu",
    Kind.GPU_PAGE_RETIREMENT_PENDING: "warning of gpu",
    Kind.GPU_SLOWDOWN: "warning error of gpu",
    Kind.GPU_OVERHEATED: "error of gpu",
    Kind.GPU_PCIE_DEGRADED: "warning error of gpu",
    Kind.GPU_COUNT_MISMATCH: "critical of node",
    Kind.GPU_PEERMEM_FAILED: "error of gpu",
    Kind.GPU_RECOVERY_ACTION: "warning error critical of gpu",
    Kind.GPU_RESET: "info of gpu",
    Kind.GPU_DRIVER_HUNG: "error critical of gpu",
    Kind.GPU_HELD: "error of process",
    Kind.GPU_HEALTH_FAILED: "error of gpu nvswitch cpu",
    Kind.NVLINK_ERROR: "warning error of nvlink",
    Kind.NVLINK_DOWN: "error of nvlink",
    Kind.NVSWITCH_SXID: "warning error critical of nvswitch",
    Kind.FABRIC_MANAGER_ERROR: "warning error of gpu nvswitch node",
    Kind.IMEX_ERROR: "warning error of node",
    Kind.PCIE_CORRECTED: "warning of pcie",
    Kind.PCIE_UNCORRECTED: "error critical of pcie",
    Kind.HOST_MEMORY_CORRECTED: "warning of dimm",
    Kind.HOST_MEMORY_UNCORRECTED: "critical of dimm",
    Kind.HOST_MACHINE_CHECK: "warning error critical of cpu",
    Kind.HOST_OOM_KILL: "error of process",
    Kind.HOST_PANIC: "critical of node",
    Kind.HOST_OOPS: "critical of node",
    Kind.HOST_SOFT_LOCKUP: "error of cpu",
    Kind.HOST_HARD_LOCKUP: "critical of cpu",
    Kind.HOST_RCU_STALL: "error of cpu",
    Kind.HOST_HUNG_TASK: "error of process",
    Kind.HOST_RESOURCE_EXHAUSTED: "error of node",
    Kind.HOST_CLOCK_UNSYNCHRONISED: "warning of node",
    Kind.HOST_MEMORY_LEAK: "warning error of process node",
    Kind.STORAGE_IO_ERROR: "error of disk",
    Kind.STORAGE_READ_ONLY: "critical of mount",
    Kind.STORAGE_FILESYSTEM_ERROR: "error of mount",
    Kind.STORAGE_DEVICE_FAILED: "critical of disk",
    Kind.STORAGE_DEVICE_TIMEOUT: "error of disk",
    Kind.STORAGE_FULL: "warning error of disk mount",
    Kind.STORAGE_NFS_STALLED: "error of mount",
    Kind.STORAGE_NFS_RECOVERED: "info of mount",
    Kind.STORAGE_LUSTRE_STALLED: "error of mount",
    Kind.STORAGE_LUSTRE_EVICTED: "error of mount",
    Kind.STORAGE_LUSTRE_RECOVERED: "info of mount",
    Kind.NETWORK_LINK_DOWN: "error of nic node",
    Kind.NETWORK_LINK_UP: "info of nic",
    Kind.NETWORK_LINK_FLAPPING: "error of nic",
    Kind.NETWORK_LINK_DEGRADED: "warning of nic",
    Kind.NETWORK_PORT_ERRORS: "warning error of nic",
    Kind.NETWORK_DEVICE_FAILED: "critical of nic",
    Kind.NETWORK_DEVICE_STALLED: "error of nic",
    Kind.NETWORK_MODULE_FAULT: "error of nic",
    Kind.NETWORK_POWER_INSUFFICIENT: "error of nic",
    Kind.NETWORK_REGISTER_ACCESS_FAILED: "warning of nic",
    Kind.NETWORK_EFA_MISSING: "error of nic node",
    Kind.NETWORK_EFA_ERRORS: "warning error of nic",
    Kind.NETWORK_PEER_UNRESPONSIVE: "warning error of nic",
    Kind.PROCESS_EXITED: "warning error of process",
    Kind.PROCESS_SEGFAULT: "warning of process",
    Kind.PROCESS_HUNG: "warning error of process",
    Kind.TRAINING_COLLECTIVE_TIMEOUT: "error of process",
    Kind.TRAINING_PEER_LOST: "error of process",
    Kind.TRAINING_NETWORK_ERROR: "error of process",
    Kind.TRAINING_GPU_ERROR: "error of process",
    Kind.TRAINING_OUT_OF_MEMORY: "error of process",
    Kind.TRAINING_USER_ERROR: "warning of process",
    Kind.TRAINING_DESYNCHRONISED: "error of process",
    Kind.TRAINING_KILLED: "warning of process",
    Kind.TRAINING_STALLED: "error of process",
    Kind.TRAINING_STRAGGLER: "warning of process",
    Kind.TRAINING_CHECKPOINT_INCOMPLETE: "error of process",
    Kind.TRAINING_CHECKPOINT_CORRUPT: "error of process",
    Kind.TRAINING_CHECKPOINT_OVERDUE: "warning of job",
    Kind.TRAINING_LOSS_ANOMALY: "warning of process",
    Kind.CONTAINER_OOM_KILL: "info error of process container",
    Kind.CONTAINER_RUNTIME_DOWN: "info error of node",
    Kind.CONTAINER_EXITED: "warning of container",
    Kind.NODE_SILENT: "critical of node",
    Kind.NODE_KUBELET_DOWN: "info error of node",
    Kind.NODE_NOT_READY: "info error of node",
    Kind.NODE_RECOVERED: "info of node",
    Kind.POD_EVICTED: "warning of node",
    Kind.JOB_FAILED: "error critical of job",
    Kind.INSTANCE_STATE_CHANGED: "info critical",
    Kind.INSTANCE_STATUS_IMPAIRED: "critical",
    Kind.INSTANCE_RETIREMENT_SCHEDULED: "error of node",
    Kind.INSTANCE_MAINTENANCE_SCHEDULED: "warning of node",
    Kind.INSTANCE_SPOT_INTERRUPTION: "critical of node",
    Kind.INSTANCE_REBALANCE_RECOMMENDED: "warning of node",
    Kind.INSTANCE_LIFECYCLE_HOOK: "info warning",
    Kind.CAPACITY_EXPIRING: "error critical",
    Kind.CONDITION_CLEARED: "info of gpu nvlink nic mount process node job",
    Kind.PIPELINE_GAP: "warning error of node",
    Kind.PIPELINE_OVERFLOWED: "error of node",
    Kind.PIPELINE_NODES_SILENT: "critical",
    Kind.PIPELINE_CANARY: "info",
}
