"""The attributes of each kind of event that our own sources tell: the one table, for the checker and for people.

Decides which names are known; where a kind stands here, another name is a slip. Kinds that others bring along (a job's,
an instance's, a node's own) are free. ``#`` marks a number, ``?`` true or false, else it is text. A test holds the
table against the sources of the agent. It must not parse expressions.
"""

from collections.abc import Mapping

from policies.contract.vocabulary import Kind

# What any event may carry: a cut message, its pod, what was folded into one, told again or over (agent.polls), known
# by its companions (the Xid catalog), while the node or its driver began, before that, or brought about on purpose.
COMMON = "truncated? pod folded? ongoing? occurrence symptom? booting? before_boot? driver_loading? injected?"
_PROCESS = "pid# process"
_TRAINER = f"{_PROCESS} rank# step#"
# A line of a rank's log says whom it waits for, and where it stood (agent/training_logs, agent/parsers/training).
_RANK_LOG = "rank# peer remote operation sequence# step# epoch# file after step_id"
_XID = (
    f"xid# gpu_instance# compute_instance# {_PROCESS} link# subcode fatal? recovery_action# recovery"
    " recovery_action_before# caused_by# interrupt error_status action look_at decided_by"
)
_MOUNT = "mount server device error waited_seconds#"
_DEVICE = "device"

TABLE: Mapping[Kind, str] = {
    Kind.GPU_XID: _XID,
    Kind.GPU_LOST: "nvml_error# was_there?",
    Kind.GPU_INIT_FAILED: "nvml_error#",
    Kind.GPU_DRIVER_MISMATCH: "nvml_error# module_version client_version",
    Kind.GPU_ECC_CORRECTED: "in_its_life#",
    Kind.GPU_ECC_UNCORRECTED: "memory counter",
    Kind.GPU_SRAM_THRESHOLD_EXCEEDED: "",
    Kind.GPU_ROW_REMAP_PENDING: "rows_remapped# pages_retired#",
    Kind.GPU_ROW_REMAP_FAILED: "rows_remapped# pages_retired#",
    Kind.GPU_PAGE_RETIREMENT_PENDING: "rows_remapped# pages_retired#",
    Kind.GPU_SLOWDOWN: "reason minutes_of_ten#",
    Kind.GPU_OVERHEATED: "reason temperature# margin# limit#",
    Kind.GPU_PCIE_DEGRADED: "reason width# full_width# generation# full_generation# replays_a_minute#",
    Kind.GPU_COUNT_MISMATCH: "found# expected#",
    Kind.GPU_PEERMEM_FAILED: "",
    Kind.GPU_RECOVERY_ACTION: "recovery_action# recovery",
    Kind.GPU_RESET: "",
    Kind.GPU_DRIVER_HUNG: "reason",
    Kind.GPU_HELD: f"{_TRAINER} state gpus threads#",
    Kind.GPU_HEALTH_FAILED: "reason health device",
    Kind.NVLINK_ERROR: "reason links health_mask#",
    Kind.NVLINK_DOWN: "links count#",
    Kind.NVSWITCH_SXID: "sxid# fatal? link# detail?",
    Kind.FABRIC_MANAGER_ERROR: "reason state# status unit",
    Kind.IMEX_ERROR: "reason state remote domain unit",
    Kind.PCIE_CORRECTED: "",
    Kind.PCIE_UNCORRECTED: "fatal?",
    Kind.HOST_MEMORY_CORRECTED: "errors# device location",
    Kind.HOST_MEMORY_UNCORRECTED: "errors# device location",
    Kind.HOST_MACHINE_CHECK: "",
    Kind.HOST_OOM_KILL: _PROCESS,
    Kind.HOST_PANIC: "reason",
    Kind.HOST_OOPS: "",
    Kind.HOST_SOFT_LOCKUP: f"{_PROCESS} seconds#",
    Kind.HOST_HARD_LOCKUP: "",
    Kind.HOST_RCU_STALL: "",
    Kind.HOST_HUNG_TASK: f"{_PROCESS} seconds#",
    Kind.HOST_RESOURCE_EXHAUSTED: "resource",
    Kind.HOST_CLOCK_UNSYNCHRONISED: "reason jump_seconds# offset_seconds# max_error_seconds#",
    Kind.HOST_MEMORY_LEAK: f"{_PROCESS} own_mib# cgroup resource minutes_left# growth_mib_per_hour# room_mib#",
    Kind.STORAGE_IO_ERROR: _DEVICE,
    Kind.STORAGE_READ_ONLY: "mount device",
    Kind.STORAGE_FILESYSTEM_ERROR: _DEVICE,
    Kind.STORAGE_DEVICE_FAILED: _DEVICE,
    Kind.STORAGE_DEVICE_TIMEOUT: _DEVICE,
    Kind.STORAGE_FULL: "mount device resource used_percent# free_bytes# free_inodes#",
    Kind.STORAGE_NFS_STALLED: _MOUNT,
    Kind.STORAGE_LUSTRE_STALLED: _MOUNT,
    Kind.STORAGE_LUSTRE_EVICTED: "server",
    Kind.NETWORK_LINK_DOWN: "device port# layer state physical expected# found#",
    Kind.NETWORK_LINK_FLAPPING: "device port# layer times# within_seconds#",
    Kind.NETWORK_LINK_DEGRADED: "device port# layer gigabits# expected# than",
    Kind.NETWORK_PORT_ERRORS: "device port# layer reason rise# within_seconds#",
    Kind.NETWORK_DEVICE_FAILED: "device on_pci_bus? driver",
    Kind.NETWORK_DEVICE_STALLED: "",
    Kind.NETWORK_MODULE_FAULT: "module reason",
    Kind.NETWORK_POWER_INSUFFICIENT: "watts#",
    Kind.NETWORK_REGISTER_ACCESS_FAILED: "",
    Kind.NETWORK_EFA_MISSING: "expected# found# device",
    Kind.NETWORK_EFA_ERRORS: "device reason percent#",
    Kind.NETWORK_PEER_UNRESPONSIVE: f"device reason {_RANK_LOG}",
    Kind.PROCESS_EXITED: f"{_PROCESS} {_RANK_LOG} exit_code# signal phase first_pid# first_rank#",
    Kind.PROCESS_SEGFAULT: f"{_PROCESS} library",
    Kind.PROCESS_HUNG: f"{_TRAINER} state gpus threads# idle_seconds# step_id",
    Kind.TRAINING_COLLECTIVE_TIMEOUT: _RANK_LOG,
    Kind.TRAINING_PEER_LOST: _RANK_LOG,
    Kind.TRAINING_NETWORK_ERROR: _RANK_LOG,
    Kind.TRAINING_GPU_ERROR: _RANK_LOG,
    Kind.TRAINING_OUT_OF_MEMORY: _RANK_LOG,
    Kind.TRAINING_USER_ERROR: _RANK_LOG,
    Kind.TRAINING_DESYNCHRONISED: _RANK_LOG,
    Kind.TRAINING_KILLED: _RANK_LOG,
    Kind.TRAINING_CHECKPOINT_INCOMPLETE: _RANK_LOG,
    Kind.TRAINING_CHECKPOINT_CORRUPT: _RANK_LOG,
    Kind.TRAINING_LOSS_ANOMALY: f"{_RANK_LOG} loss# usual#",
    Kind.TRAINING_STALLED: (
        f"{_TRAINER} phase stalled_seconds# allowed_seconds# learned_step_seconds# state cpu_busy?"
    ),
    Kind.CONTAINER_OOM_KILL: (
        f"{_PROCESS} container step_id step_name cgroup pod_uid unit slurm_job by limited limit_bytes#"
    ),
    Kind.CONTAINER_RUNTIME_DOWN: "unit reason",
    Kind.CONTAINER_EXITED: "container exit_code# pid#",
    Kind.NODE_KUBELET_DOWN: "unit reason",
    Kind.PIPELINE_GAP: "reason of lost# by first_seq# last_seq#",
    Kind.PIPELINE_OVERFLOWED: "reason of lost# first_seq# last_seq#",
}


def _names(words: str) -> frozenset[str]:
    return frozenset(word.rstrip("#?") for word in f"{words} {COMMON}".split())


ATTRIBUTES: Mapping[str, frozenset[str]] = {kind.value: _names(words) for kind, words in TABLE.items()}
"""Kind -> its attributes. Kinds that are not in it are free."""


def _numbers() -> frozenset[str]:
    """Return what is a number of whatever kind it is."""
    words = {word for row in TABLE.values() for word in row.split()}
    return frozenset(word[:-1] for word in words if word.endswith("#") and not {word[:-1], f"{word[:-1]}?"} & words)


NUMERIC = _numbers()
