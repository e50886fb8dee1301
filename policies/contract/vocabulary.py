"""The words that every part of Relight shares: kinds of fault, severities, sources, components, actions, rungs.

A word that is missing is added here, with a line that says what it means. It must not know who uses a word or what
is done about it: that is what policies say.
"""

from enum import StrEnum


class Severity(StrEnum):
    """How bad one event is by itself, in rising order."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Return 0 for info up to 3 for critical, so that severities can be compared."""
        return _SEVERITY_RANK[self]


_SEVERITY_RANK = {severity: rank for rank, severity in enumerate(Severity)}


class Persistence(StrEnum):
    """Whether the fault goes away by itself."""

    TRANSIENT = "transient"
    PERMANENT = "permanent"
    UNKNOWN = "unknown"


class Source(StrEnum):
    """Where an event was seen."""

    KERNEL_LOG = "kernel_log"
    NVML = "nvml"
    DCGM = "dcgm"
    EFA = "efa"
    INFINIBAND = "infiniband"
    FILESYSTEM = "filesystem"
    PROCESS = "process"
    HEARTBEAT = "heartbeat"
    TRAINING_LOG = "training_log"
    CGROUP = "cgroup"
    CONTAINER_RUNTIME = "container_runtime"
    JOURNAL = "journal"
    EC2 = "ec2"
    HEALTH = "health"
    AUTOSCALING = "autoscaling"
    SAGEMAKER = "sagemaker"
    HYPERPOD = "hyperpod"
    KUBERNETES = "kubernetes"
    SLURM = "slurm"
    NVSENTINEL = "nvsentinel"
    SWEEP = "sweep"
    PERSON = "person"
    HOST = "host"  # counters and states of the machine that no log tells: EDAC, clock, memory
    IMEX = "imex"  # the daemon that exports GPU memory between the nodes of an UltraServer
    AGENT = "agent"  # the agent about itself: gaps, overflow


class ComponentType(StrEnum):
    """What part of a node (or beyond) a fault concerns."""

    GPU = "gpu"
    NVSWITCH = "nvswitch"
    NVLINK = "nvlink"
    PCIE = "pcie"
    CPU = "cpu"
    DIMM = "dimm"
    NIC = "nic"
    DISK = "disk"
    MOUNT = "mount"
    PROCESS = "process"
    CONTAINER = "container"
    NODE = "node"
    JOB = "job"


class Orchestrator(StrEnum):
    """Who runs the training job."""

    EKS = "eks"
    SAGEMAKER = "sagemaker"
    HYPERPOD_EKS = "hyperpod_eks"
    HYPERPOD_SLURM = "hyperpod_slurm"
    SLURM = "slurm"


class Action(StrEnum):
    """What a policy may ask for."""

    RECORD = "record"
    ALERT = "alert"
    RESTART_PROCESS = "restart_process"
    RESTART_SERVICE = "restart_service"
    RESET_GPU = "reset_gpu"
    RELOAD_DRIVER = "reload_driver"
    ISOLATE = "isolate"
    DRAIN = "drain"
    REBOOT_NODE = "reboot_node"
    REPLACE_NODE = "replace_node"
    SUSPEND_JOB = "suspend_job"
    RESUME_JOB = "resume_job"
    REQUEUE_JOB = "requeue_job"
    DEPRIORITISE = "deprioritise"
    RECLAIM = "reclaim"
    COLLECT_EVIDENCE = "collect_evidence"
    PAGE_OPERATOR = "page_operator"


ONLY_TELLS = frozenset({Action.RECORD, Action.ALERT, Action.PAGE_OPERATOR})
"""Actions after which somebody knows, and nothing else has changed."""
TOUCHES_NOTHING = ONLY_TELLS | {Action.COLLECT_EVIDENCE}
"""Actions after which every node and every run goes on as before."""


RECORDED = "recorded"
"""The outcome of an incident that nobody acts on, and of its lease."""


class EvidenceRule(StrEnum):
    """What proves that a fault still holds when the time to act has come."""

    LATCHED = "latched"  # holds until reset or boot: silence confirms it
    PROBE = "probe"  # must be seen again now
    TRANSIENT = "transient"  # must be recent


class PolicyMode(StrEnum):
    """Whether a policy acts."""

    ACTIVE = "active"
    SHADOW = "shadow"  # decides and records, never acts
    OFF = "off"


class Kind(StrEnum):
    """What happened. The part before the dot is the family."""

    GPU_XID = "gpu.xid"
    GPU_LOST = "gpu.lost"
    GPU_INIT_FAILED = "gpu.init_failed"
    GPU_DRIVER_MISMATCH = "gpu.driver_mismatch"
    GPU_ECC_CORRECTED = "gpu.ecc_corrected"
    GPU_ECC_UNCORRECTED = "gpu.ecc_uncorrected"
    GPU_SRAM_THRESHOLD_EXCEEDED = "gpu.sram_threshold_exceeded"
    GPU_ROW_REMAP_PENDING = "gpu.row_remap_pending"
    GPU_ROW_REMAP_FAILED = "gpu.row_remap_failed"
    GPU_PAGE_RETIREMENT_PENDING = "gpu.page_retirement_pending"
    GPU_SLOWDOWN = "gpu.slowdown"
    GPU_OVERHEATED = "gpu.overheated"
    GPU_PCIE_DEGRADED = "gpu.pcie_degraded"
    GPU_COUNT_MISMATCH = "gpu.count_mismatch"
    GPU_PEERMEM_FAILED = "gpu.peermem_failed"
    GPU_RECOVERY_ACTION = "gpu.recovery_action"
    GPU_RESET = "gpu.reset"
    GPU_DRIVER_HUNG = "gpu.driver_hung"  # a call into NVIDIA's driver did not come back within its deadline
    GPU_HELD = "gpu.held"  # a process that is over, or cannot end, keeps a GPU from others
    GPU_HEALTH_FAILED = "gpu.health_failed"  # a health watch of DCGM, of something that nothing else here measures
    NVLINK_ERROR = "nvlink.error"
    NVLINK_DOWN = "nvlink.down"
    NVSWITCH_SXID = "nvswitch.sxid"
    FABRIC_MANAGER_ERROR = "fabric_manager.error"
    IMEX_ERROR = "imex.error"
    PCIE_CORRECTED = "pcie.corrected"
    PCIE_UNCORRECTED = "pcie.uncorrected"
    HOST_MEMORY_CORRECTED = "host.memory_corrected"
    HOST_MEMORY_UNCORRECTED = "host.memory_uncorrected"
    HOST_MACHINE_CHECK = "host.machine_check"
    HOST_OOM_KILL = "host.oom_kill"
    HOST_PANIC = "host.panic"
    HOST_OOPS = "host.oops"
    HOST_SOFT_LOCKUP = "host.soft_lockup"
    HOST_HARD_LOCKUP = "host.hard_lockup"
    HOST_RCU_STALL = "host.rcu_stall"
    HOST_HUNG_TASK = "host.hung_task"
    HOST_RESOURCE_EXHAUSTED = "host.resource_exhausted"
    HOST_CLOCK_UNSYNCHRONISED = "host.clock_unsynchronised"
    HOST_MEMORY_LEAK = "host.memory_leak"
    STORAGE_IO_ERROR = "storage.io_error"
    STORAGE_READ_ONLY = "storage.read_only"
    STORAGE_FILESYSTEM_ERROR = "storage.filesystem_error"
    STORAGE_DEVICE_FAILED = "storage.device_failed"
    STORAGE_DEVICE_TIMEOUT = "storage.device_timeout"
    STORAGE_FULL = "storage.full"
    STORAGE_NFS_STALLED = "storage.nfs_stalled"
    STORAGE_NFS_RECOVERED = "storage.nfs_recovered"
    STORAGE_LUSTRE_STALLED = "storage.lustre_stalled"
    STORAGE_LUSTRE_EVICTED = "storage.lustre_evicted"
    STORAGE_LUSTRE_RECOVERED = "storage.lustre_recovered"
    NETWORK_LINK_DOWN = "network.link_down"
    NETWORK_LINK_UP = "network.link_up"
    NETWORK_LINK_FLAPPING = "network.link_flapping"
    NETWORK_LINK_DEGRADED = "network.link_degraded"  # a port is slower than it was, or than the others of its kind
    NETWORK_PORT_ERRORS = "network.port_errors"
    NETWORK_DEVICE_FAILED = "network.device_failed"
    NETWORK_DEVICE_STALLED = "network.device_stalled"
    NETWORK_MODULE_FAULT = "network.module_fault"
    NETWORK_POWER_INSUFFICIENT = "network.power_insufficient"
    NETWORK_REGISTER_ACCESS_FAILED = "network.register_access_failed"
    NETWORK_EFA_MISSING = "network.efa_missing"
    NETWORK_EFA_ERRORS = "network.efa_errors"
    NETWORK_PEER_UNRESPONSIVE = "network.peer_unresponsive"  # accuses the remote, not the node that says it
    PROCESS_EXITED = "process.exited"
    PROCESS_SEGFAULT = "process.segfault"
    PROCESS_HUNG = "process.hung"
    TRAINING_COLLECTIVE_TIMEOUT = "training.collective_timeout"
    TRAINING_PEER_LOST = "training.peer_lost"
    TRAINING_NETWORK_ERROR = "training.network_error"
    TRAINING_GPU_ERROR = "training.gpu_error"
    TRAINING_OUT_OF_MEMORY = "training.out_of_memory"
    TRAINING_USER_ERROR = "training.user_error"
    TRAINING_DESYNCHRONISED = "training.desynchronised"
    TRAINING_KILLED = "training.killed"
    TRAINING_STALLED = "training.stalled"
    TRAINING_STRAGGLER = "training.straggler"  # one rank slows all others down
    TRAINING_CHECKPOINT_INCOMPLETE = "training.checkpoint_incomplete"
    TRAINING_CHECKPOINT_CORRUPT = "training.checkpoint_corrupt"
    TRAINING_CHECKPOINT_OVERDUE = "training.checkpoint_overdue"  # nothing was saved for far longer than usual
    TRAINING_LOSS_ANOMALY = "training.loss_anomaly"
    CONTAINER_OOM_KILL = "container.oom_kill"
    CONTAINER_RUNTIME_DOWN = "container.runtime_down"
    CONTAINER_EXITED = "container.exited"
    NODE_SILENT = "node.silent"
    NODE_KUBELET_DOWN = "node.kubelet_down"  # seen from the node itself: its kubelet is not healthy
    NODE_NOT_READY = "node.not_ready"
    NODE_RECOVERED = "node.recovered"
    POD_EVICTED = "pod.evicted"
    JOB_FAILED = "job.failed"
    INSTANCE_STATE_CHANGED = "instance.state_changed"
    INSTANCE_STATUS_IMPAIRED = "instance.status_impaired"
    INSTANCE_RETIREMENT_SCHEDULED = "instance.retirement_scheduled"
    INSTANCE_MAINTENANCE_SCHEDULED = "instance.maintenance_scheduled"
    INSTANCE_SPOT_INTERRUPTION = "instance.spot_interruption"
    INSTANCE_REBALANCE_RECOMMENDED = "instance.rebalance_recommended"
    INSTANCE_LIFECYCLE_HOOK = "instance.lifecycle_hook"
    CAPACITY_EXPIRING = "capacity.expiring"
    CONDITION_CLEARED = "condition.cleared"  # a measured condition (attributes.of is its kind) holds no more; no fault
    PIPELINE_GAP = "pipeline.gap"
    PIPELINE_OVERFLOWED = "pipeline.overflowed"
    PIPELINE_NODES_SILENT = "pipeline.nodes_silent"  # so many nodes fell silent at once that it is not theirs
    PIPELINE_CANARY = "pipeline.canary"  # the sweep's proof that the pipeline itself is alive; never a fault
