"""What a training rank's own log tells: NCCL, Gloo, PyTorch, CUDA, Slurm.

The rank that prints is usually the victim: an event from here says what happened to this rank, and accuses nobody.
Rules stand in order and the first that fits wins, since one line often names both a cause and its consequence. It must
not know what other ranks say.

Sources: PyTorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp; NCCL src/misc/{socket,ibvwrap}.cc, src/proxy.cc,
src/transport/net_ib.cc; aws-ofi-nccl; Gloo transport/tcp/unbound_buffer.cc; slurmstepd.
"""

import re
from dataclasses import dataclass

from agent.parsers.sighting import Sighting
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Severity

_PROCESS = Component(type=ComponentType.PROCESS)
_RANK = re.compile(r"\[rank([0-9]{1,6})\]|\[Rank ([0-9]{1,6})\]|\bRank ([0-9]{1,6})\]")
_PEER = re.compile(r"(?:peer|to|from) ([0-9]{1,3}(?:\.[0-9]{1,3}){3})<[0-9]{1,5}>")
_OPERATION = re.compile(r"OpType=(\w{1,40})")
TEXT_LIMIT = 16 * 1024


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: Kind
    severity: Severity
    pattern: re.Pattern[str]


def _rule(kind: Kind, severity: Severity, *patterns: str) -> _Rule:
    return _Rule(kind, severity, re.compile("|".join(patterns)))


_RULES = (
    _rule(
        Kind.TRAINING_COLLECTIVE_TIMEOUT,
        Severity.ERROR,
        r"Watchdog caught collective operation timeout",
        r"detected no heartbeat of its watchdog|watchdog got stuck|heartbeat monitor.{0,40}timed out",
        r"Timed out waiting [0-9]{1,12}ms for (?:recv|send) operation",
    ),
    _rule(
        Kind.TRAINING_GPU_ERROR,
        Severity.ERROR,
        r"uncorrectable ECC error|CUDA_ERROR_ECC_UNCORRECTABLE|[Uu]ncorrectable NVLink error",
        r"CUDA error: (?:an illegal (?:memory access|instruction)|unspecified launch failure|misaligned address)",
        r"CUDA error: (?:all CUDA-capable devices are busy|no CUDA-capable device|unknown error|device not ready)",
        r"NCCL WARN Cuda failure|CUDNN_STATUS_EXECUTION_FAILED|CUBLAS_STATUS_EXECUTION_FAILED",
        r"fallen off the bus|RmInitAdapter failed|NVML: Unknown Error|GPU is lost",
    ),
    _rule(
        Kind.TRAINING_OUT_OF_MEMORY,
        Severity.ERROR,
        r"CUDA out of memory|OutOfMemoryError|CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY",
    ),
    _rule(
        Kind.TRAINING_USER_ERROR,
        Severity.WARNING,
        r"Assertion `[^\n]{1,400}` failed|device-side assert triggered",
    ),
    _rule(
        Kind.TRAINING_DESYNCHRONISED,
        Severity.ERROR,
        r"Detected mismatch between collectives on ranks|collectives? (?:are|is) out of sync",
    ),
    _rule(
        Kind.TRAINING_PEER_LOST,
        Severity.ERROR,
        r"DUE TO NODE FAILURE",
        r"Connection reset by peer|Connection closed by (?:remote )?peer|Socket recv failed while polling",
        r"RendezvousClosedError|RendezvousConnectionError|store.{0,40}Broken pipe",
        r"NCCL WARN.{0,80}(?:remote process|remote peer) (?:exited|has closed)|ncclRemoteError",
    ),
    _rule(
        Kind.TRAINING_NETWORK_ERROR,
        Severity.ERROR,
        r"NET/IBP? ?: ?Got completion from peer|Got async event|ibv_[a-z_]{2,32} failed with",
        r"(?:NCCL WARN|WARN) NET/OFI |infiniband efa_[0-9]{1,3}: Failed to process command",
        r"WARN Call to connect (?:to .{1,60})?failed|WARN socket\w{1,24}: Connect to .{1,60} failed",
        r"No route to host|Network is unreachable",
    ),
    _rule(
        Kind.TRAINING_CHECKPOINT_CORRUPT,
        Severity.ERROR,
        r"PytorchStreamReader failed|invalid header or archive is corrupted|failed finding central directory",
        r"Error while deserializing header|SafetensorError|unpickling stack underflow|pickle data was truncated",
    ),
    _rule(
        Kind.TRAINING_CHECKPOINT_INCOMPLETE,
        Severity.ERROR,
        r"No such file or directory: '[^'\n]{0,400}(?:/\.metadata|checkpoint|ckpt|\.distcp|global_step|iter_[0-9]{7})",
        r"CheckpointException",
    ),
    _rule(
        Kind.TRAINING_KILLED,
        Severity.WARNING,
        r"closing signal SIG(?:TERM|KILL|INT)|Signal (?:9|15) \(SIG(?:KILL|TERM)\) received",
        r"CANCELLED AT [0-9T:-]{10,20}",
    ),
    _rule(
        Kind.TRAINING_LOSS_ANOMALY,
        Severity.WARNING,
        r"(?:loss|grad(?:ient)?[ _]norm)\s{0,4}(?:is|=|:)\s{0,4}(?:nan|NaN|inf)\b",
    ),
)
# Said by healthy runs: information, and libraries that are tried and not needed.
_HARMLESS = re.compile(r"NCCL INFO|Failed to open lib\w{1,32}\.so")


def parse_training_line(text: str) -> list[Sighting]:
    """Return what a line (or several that belong together) of a rank's log tells of; never raises."""
    text = text[:TEXT_LIMIT]
    if _HARMLESS.search(text):
        return []
    for rule in _RULES:
        if rule.pattern.search(text):
            return [Sighting(rule.kind, rule.severity, _PROCESS, _attributes(text))]
    return []


def _attributes(text: str) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    if match := _RANK.search(text):
        found["rank"] = int(match[1] or match[2] or match[3])
    if match := _PEER.search(text):
        found["peer"] = match[1]
    if match := _OPERATION.search(text):
        found["operation"] = match[1]
    return found
