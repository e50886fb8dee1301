"""What of a process may be written down: its command line without secrets, and a few variables of its environment.

Decides by names and shapes, and rather too much than too little: a masked word costs a question, a token in a bucket an
incident. An environment is never written whole. It must not know where text comes from.

Shapes: AWS access keys (AKIA, ASIA; IAM user guide, "Unique identifiers"), GitHub (ghp_, github_pat_), Hugging Face
(hf_), OpenAI and Anthropic (sk-), Weights & Biases (40 hex digits), Slack (xox.-), JSON Web Tokens (eyJ...).
"""

import re
from collections.abc import Mapping, Sequence

MASK = "***"
# What tells where a process stands in its job and how its communication was set up: no value of these is a secret.
ALLOWED_VARIABLES = frozenset({
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT",
    "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_RUN_ID", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "TORCH_FR_DUMP_TEMP_FILE",
    "TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_NCCL_BLOCKING_WAIT",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "NCCL_DEBUG", "NCCL_DEBUG_FILE",
    "NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_IB_TIMEOUT", "NCCL_PROTO", "NCCL_ALGO", "NCCL_TUNER_PLUGIN",
    "NCCL_NET_PLUGIN", "NCCL_P2P_DISABLE", "NCCL_NVLS_ENABLE", "FI_PROVIDER", "FI_EFA_USE_DEVICE_RDMA",
    "FI_EFA_FORK_SAFE", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "SLURM_JOB_ID",
    "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS", "SLURM_RESTART_COUNT", "OMPI_COMM_WORLD_RANK",
    "TRAINING_JOB_NAME", "HOSTNAME", "RELIGHT_BEATS",
})  # fmt: skip
_SECRET_NAME = re.compile(
    r"(?:pass(?:w(?:or)?d|phrase)?|pwd|secret|token|api[-_]?key|access[-_]?key|auth(?:orization)?|bearer|credential"
    r"|cookie|session|signature|private|key)",
    re.IGNORECASE,
)
_SHAPES = re.compile(
    r"(?:AKIA|ASIA)[A-Z0-9]{12,}|gh[opsur]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|hf_[A-Za-z0-9]{16,}"
    r"|sk-[A-Za-z0-9_-]{16,}|xox[a-z]-[A-Za-z0-9-]{8,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
    r"|(?<![0-9A-Za-z])[0-9a-fA-F]{32,}(?![0-9A-Za-z])|(?<![\w/+.-])[A-Za-z0-9+/]{40}={0,2}(?![\w/+.-])"
)
_IN_ADDRESS = re.compile(r"(://)[^/\s@]+@")
_ASSIGNED = re.compile(r"([\w.-]+)(\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|\S+)")
_HEADER = re.compile(r"\b((?:proxy-)?authorization\s*:|bearer|basic)(\s+)\S.*", re.IGNORECASE)


def mask(text: str) -> str:
    """Return *text* without what looks like a secret: by its shape, in an address, or behind a telling name."""
    text = _IN_ADDRESS.sub(rf"\1{MASK}@", text)
    text = _HEADER.sub(rf"\1\2{MASK}", text)
    text = _ASSIGNED.sub(lambda found: _assigned(found[1], found[2], found[3]), text)
    return _SHAPES.sub(MASK, text)


def mask_words(words: Sequence[str]) -> list[str]:
    """Return a command line's words, masked; the word behind an option like ``--api-key`` goes as a whole."""
    masked: list[str] = []
    behind = False
    for word in words:
        option = word.startswith("-")
        masked.append(MASK if behind and not option else mask(word))
        behind = option and "=" not in word and bool(_SECRET_NAME.search(word))
    return masked


def allowed_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return of *environ* the variables on the list, masked all the same."""
    return {name: mask(environ[name]) for name in sorted(ALLOWED_VARIABLES & environ.keys())}


def _assigned(name: str, between: str, value: str) -> str:
    return f"{name}{between}{MASK if _SECRET_NAME.search(name) else value}"
