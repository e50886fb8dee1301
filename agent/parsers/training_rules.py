"""The messages of a training rank's log, as a table: PyTorch, NCCL, Gloo, OFI, JAX, DeepSpeed, Megatron, Slurm.

Rules stand in order and the first that fits wins, since one line often names a cause and its consequence: what names
hardware, memory or the program stands ahead of what only tells that others went away. It must not know what other ranks
say.

Sources: PyTorch torch/csrc/distributed/c10d/{ProcessGroupNCCL,TCPStore,socket,Utils}.cpp, torch/distributed/elastic,
c10/cuda/CUDAException.cpp, caffe2/serialize/inline_container.cc; NCCL src/{init,proxy}.cc, misc/{socket,ibvwrap}.cc,
transport/net_{ib,socket}.cc; aws-ofi-nccl src/nccl_ofi_*.cpp; Gloo transport/tcp/{pair,unbound_buffer}.cc; XLA
xla/tsl/distributed_runtime/coordination; DeepSpeed runtime/engine.py; Megatron-LM megatron/training; slurmstepd, srun.
"""

import re
from dataclasses import dataclass

from policies.contract.vocabulary import Kind, Severity


@dataclass(frozen=True, slots=True)
class TrainingRule:
    """Lines in which *pattern* is found tell of this. A ``symptom`` accuses nobody: who prints it is the victim."""

    kind: Kind
    severity: Severity
    pattern: re.Pattern[str]
    symptom: bool = False


def _rule(kind: Kind, severity: Severity, *patterns: str, symptom: bool = False) -> TrainingRule:
    return TrainingRule(kind, severity, re.compile("|".join(patterns)), symptom)


_CAUSES = (
    _rule(
        Kind.TRAINING_USER_ERROR,
        Severity.WARNING,
        r"Assertion `[^\n]{1,400}` failed|device-side assert triggered|cudaErrorAssert",
        r"CUDA error: (?:invalid (?:device ordinal|configuration|argument|device function)|no kernel image|the "
        r"provided PTX)",
        r"Duplicate GPU detected|ncclInvalidUsage|ncclInvalidArgument",
    ),
    # the kernel's or an operator's kill, told by who watched the process (before out of memory: Ray names both)
    _rule(
        Kind.TRAINING_KILLED,
        Severity.WARNING,
        r"ray\.exceptions\.OutOfMemoryError|[Dd]etected [0-9]{1,6} oom[_-]kill event|have been OOM Killed",
        r"\bOOMKilled\b",
        r"Signal (?:9|15|7) \(SIG(?:KILL|TERM|BUS)\) received|exitcode\s{0,4}: -(?:9|15|7)\b|\(exitcode: -(?:9|15|7)\)",
        r"DataLoader worker \(pid\(?s?\)? [0-9, ]{1,200}\) (?:is killed by signal|exited unexpectedly)",
        r"exited on signal (?:9|15) \((?:Killed|Terminated)\)|(?:^|\s)task [0-9]{1,7}: Killed",
        r"^\S{0,200}: line [0-9]{1,7}: {1,4}[0-9]{1,10} Killed ",
    ),
    _rule(
        Kind.PROCESS_SEGFAULT,
        Severity.WARNING,
        r"Fatal Python error: (?:Segmentation fault|Bus error)|Segfault encountered|Segmentation fault \(core dumped\)",
        r"Signal (?:11|4) \(SIG(?:SEGV|ILL)\) received|exited on signal 11|exitcode\s{0,4}: -11\b|\(exitcode: -11\)",
        r"Caught signal 11 \(Segmentation fault",
    ),
    _rule(
        Kind.TRAINING_OUT_OF_MEMORY,
        Severity.ERROR,
        r"(?:CUDA|HIP|NPU) out of memory|OutOfMemoryError|(?:CUDA|HIP) error: out of memory|CUDA_ERROR_OUT_OF_MEMORY",
        r"[Cc][Uu][Dd][Aa] failure [^\n]{0,20}out of memory",
        r"RESOURCE_EXHAUSTED: [^\n]{0,40}(?:Out of memory|out of memory)",
        r"CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_ALLOC_FAILED|can't allocate memory: you tried to allocate",
        r"^(?:\[rank[0-9]{1,6}\]: )?MemoryError\b|\[Errno 12\] Cannot allocate memory",
    ),
    _rule(
        Kind.TRAINING_COLLECTIVE_TIMEOUT,
        Severity.ERROR,
        r"Watchdog caught collective operation timeout",
        symptom=True,
    ),
    _rule(
        Kind.TRAINING_GPU_ERROR,
        Severity.ERROR,
        r"uncorrectable ECC error|CUDA_ERROR_ECC_UNCORRECTABLE|[Uu]ncorrectable NVLink error",
        r"over nvlink or a hardware error",
        r"CUDA error: (?:an illegal|unspecified launch|misaligned|all CUDA-capable|CUDA-capable device|no CUDA-capable"
        r"|unknown error|device not ready|hardware stack error|the launch timed out|GPU is lost|system not yet"
        r"|initialization error|device kernel image|invalid program counter|context is destroyed",
        r"operation not supported on)",
        r"CUDA_ERROR_(?:ILLEGAL_|LAUNCH_|NOT_INITIALIZED|NO_DEVICE|UNKNOWN|HARDWARE_|NVLINK_|SYSTEM_|MISALIGNED_|"
        r"DEINIT)",
        r"WARN C(?:uda|UDA) failure|ncclUnhandledCudaError|unhandled cuda error",
        r"CUDNN_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR)",
        r"CUBLAS_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR|NOT_INITIALIZED)|No CUDA GPUs are available",
        r"Unexpected error from cudaGetDeviceCount|CUDA driver initialization failed|Failed to initialize NVML",
        r"fallen off the bus|RmInitAdapter failed|rm_init_adapter failed|NVML: Unknown Error|GPU is lost|NVRM: Xid \(",
    ),
)
_OTHERS = (
    _rule(
        Kind.TRAINING_DESYNCHRONISED,
        Severity.ERROR,
        r"Detected mismatch between collectives on ranks|collectives? (?:are|is) out of sync",
        r"[Mm]essage truncated|mismatch in collective sizes|mismatched ranks that caused the desync",
        r"Mismatched collective",
        symptom=True,
    ),
    _rule(
        Kind.TRAINING_COLLECTIVE_TIMEOUT,
        Severity.ERROR,
        r"detected no heartbeat of its watchdog|watchdog got stuck|[Hh]eartbeat monitor.{0,40}timed out",
        r"watchdog hang\b",
        r"Timed out waiting [0-9]{1,12}ms for (?:recv|send) operation|Application timeout caused pair closure",
        r"failure detected by watchdog at work|detected by watchdog at work|Timeout at NCCL work",
        r"NCCL operations have failed or timed out|(?:due to a collective|global) timeout",
        r"Received a timeout signal from",
        r"timed out after waiting for [0-9]{1,12}ms flight recorder|failed to pass monitoredBarrier|Barrier timed out",
        r"Timed out initializing process group in store based barrier",
        r"Timed out after [0-9.]{1,12} seconds waiting for clients",
        r"[Ww]ait timeout after [0-9]{1,12}ms|store->get[^\n]{0,200}got error: (?:Socket|wait) [Tt]imeout",
        r"RuntimeError: Socket Timeout",
        r"first call to collective operation|This thread has been waiting for [^\n]{0,80} and may be stuck",
        symptom=True,
    ),
    _rule(
        Kind.TRAINING_PEER_LOST,
        Severity.ERROR,
        r"DUE TO NODE FAILURE|srun: error: Node failure on|lost communication with a remote daemon",
        r"lost connection to the .{0,20}daemon",
        r"Connection reset by peer|Connection closed by (?:remote )?peer|Socket recv failed while polling",
        r"[Bb]roken pipe",
        r"RendezvousClosedError|RendezvousConnectionError|RendezvousTimeoutError|recvValue failed on SocketImpl",
        r"Failed to recv, got 0 bytes|failed to recv, got 0 bytes|Did the remote server shutdown or crash",
        r"remote process exited|remote process exiting|(?:remote process|remote peer) (?:exited|has closed)",
        r"ncclRemoteError",
        r"[Uu]n(?:responsive|reachable) (?:receiver|remote)|remote hung up|tasks are unhealthy|another task died",
        r"heartbeat timeout from task",
        r"failed to send a keep-alive heartbeat to the rendezvous|The client socket has timed out after [0-9]",
        symptom=True,
    ),
    _rule(
        Kind.TRAINING_NETWORK_ERROR,
        Severity.ERROR,
        r"NET/IBP? ?: ?Got completion from peer|[Gg]ot async (?:fatal )?event|ibv_[a-z_]{2,32} failed with",
        r"(?:NCCL WARN|WARN) NET/OFI |infiniband (?:efa_|rdmap)\w{1,24}: Failed to (?:process|submit) command",
        r"WARN Call to connect (?:to .{1,60})?failed|WARN socket\w{1,24}: Connect to .{1,60} failed",
        r"WARN Connect to .{1,60} failed",
        r"No route to host|Network is unreachable|errno: 110 - Connection timed out|ncclSystemError",
        r"unhandled system error",
        r"NCCL WARN Bootstrap : no socket interface found|NCCL WARN NET/Socket : [^\n]{0,80}(?:failed|error)",
        r"libfabric:[^\n]{0,80}(?:error|failed)",
    ),
)
_CHECKPOINTS = (
    _rule(
        Kind.TRAINING_CHECKPOINT_INCOMPLETE,
        Severity.ERROR,
        r"PytorchStreamWriter failed|inline_container\.cc:[0-9]{1,5}\] \. (?:unexpected pos|PytorchStreamWriter)",
        r"No such file or directory: '[^'\n]{0,400}(?:/\.metadata|checkpoint|ckpt|\.distcp|global_step|iter_[0-9]{7})",
        r"Unable to find latest file at|zero checkpoints? paths? (?:are )?missing",
        r"Client provided checkpoint load paths",
        r"could not find the metadata file [^\n]{1,400}|is not a distributed checkpoint",
        r"Can't find a valid checkpoint at",
        r"Error no file named [^\n]{1,200} found in directory [^\n]{0,300}(?:checkpoint|ckpt|global_step)",
        r"[Cc]heckpoint [^\n]{0,200}(?:is not finalized|is incomplete|not fully committed)",
    ),
    _rule(
        Kind.TRAINING_CHECKPOINT_CORRUPT,
        Severity.ERROR,
        r"PytorchStreamReader failed|invalid header or archive is corrupted|failed finding central directory",
        r"Error while deserializing header|SafetensorError|unpickling stack underflow|pickle data was truncated",
        r"UnpicklingError|EOFError: Ran out of input|unexpected EOF, expected [0-9]{1,20} more bytes|BadZipFile",
        r"[Cc]heckpoint [^\n]{0,200}(?:is corrupt|checksum mismatch|hash mismatch)|CheckpointException",
    ),
)
_ENDINGS = (
    _rule(
        Kind.TRAINING_KILLED,
        Severity.WARNING,
        r"closing signal SIG(?:TERM|KILL|INT)|Signals\.SIG(?:TERM|INT) death signal",
        r"SignalException: Process [0-9]{1,10} got signal",
        r"CANCELLED AT [0-9T:-]{10,20}|Received [0-9]{1,2} death signal, shutting down workers",
    ),
    # `nan` as a whole word, in any case: Megatron prints NAN, JSON NaN
    _rule(
        Kind.TRAINING_LOSS_ANOMALY,
        Severity.WARNING,
        r"(?i:(?:loss|grad(?:ient)?[ _]norm)[\"']?\s{0,4}(?:is|=|:)\s{0,4}[\"']?-?(?:nan|inf|infinity))(?![A-Za-z0-9])",
        r"found NaN in (?:local )?(?:grad|loss)|Minimum loss scale reached|loss scale already at minimum",
        r"number of nan iterations: {1,4}[1-9]|Loss is (?:nan|inf|NaN|infinite), stopping",
    ),
    # torchelastic's and srun's word on a process that ended by itself: the least that can be said
    _rule(
        Kind.PROCESS_EXITED,
        Severity.ERROR,
        r"failed \(exitcode: (?P<exit>-?[0-9]{1,3})\)|^ {0,8}exitcode\s{0,4}: (?P<code>-?[0-9]{1,3}) ",
        r"task [0-9,-]{1,200}: Exited with exit code (?P<status>[0-9]{1,3})",
        symptom=True,
    ),
    # the last line of a traceback; what it names was looked for above
    _rule(
        Kind.TRAINING_USER_ERROR,
        Severity.WARNING,
        r"^(?:\[rank[0-9]{1,6}\]: )?(?:Type|Key|Index|Attribute|Name|Value|Syntax|Indentation|Import|ModuleNotFound|"
        r"Assertion"
        r"|ZeroDivision|Recursion|FileNotFound|UnboundLocal|Permission)Error\b(?::|$)",
        r"^(?:\[rank[0-9]{1,6}\]: )?RuntimeError: (?:mat1 and mat2|Expected all tensors|The size of tensor|"
        r"Error\(s\) in loading"
        r"|shape |Sizes of tensors|expected scalar type|Given groups|Trying to backward|element 0 of tensors",
        r"one of the variables)",
    ),
)
RULES = (*_CAUSES, *_OTHERS, *_CHECKPOINTS, *_ENDINGS)
