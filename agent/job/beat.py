"""One process's beat file: what the training side says of itself, 4096 bytes that it writes in place.

    0 magic · 8 u32 length of the header · 16 u64 beats · 24 u64 CLOCK_BOOTTIME ns of the last · 32 i64 step ·
    40 u32 phase · 48 u64 token of the last save that was asked for and done · 56 i64 step of it · 64 u64 saves, asked
    for or not · 72 u64 CLOCK_BOOTTIME ns of the last · 80 i64 step of it · 88 u64 ns in which it waited for no other ·
    256 u64 token asked for (the agent writes it) · 512 header, JSON                                (little endian)

Whoever trains writes here, so everything may be torn, foreign or a lie: what is not right is no beat. Decides what a
beat file says. It must not know files, processes or what a beat is good for.
"""

import json
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from policies.contract.events import LONGEST_ADDRESS, LONGEST_JOB_ID
from policies.contract.progress import LARGEST_VALUE
from policies.contract.vocabulary import Orchestrator

SIZE = 4096
MAGIC = b"RLBEAT01"
TOKEN_OFFSET = 256
_NUMBERS = struct.Struct("<8sI4xQQqI4xQqQQqQ")
_HEADER = 512
_LARGEST_PID = 1 << 22  # PID_MAX_LIMIT, include/linux/threads.h
_LARGEST_RANK = 10_000_000
_LARGEST_INODE = 1 << 32
_NAME = 253  # a pod's name is a DNS subdomain


class Phase(IntEnum):
    """What a process is doing, as it says."""

    UNKNOWN = 0
    STARTING = 1
    COMPILE = 2
    TRAIN = 3
    SAVE = 4
    EVALUATE = 5
    LOAD = 6
    ENDED = 7


@dataclass(frozen=True, slots=True)
class Beat:
    """What a beat file says. ``at`` is in nanoseconds of CLOCK_BOOTTIME, 0 before the first; None is not told."""

    pid: int  # as the process sees it, in its own namespace
    pid_namespace: int | None
    beats: int
    at: int
    step: int | None
    phase: Phase
    saved_token: int = 0
    saved_step: int | None = None
    saves: int = 0
    save_at: int = 0  # as ``at``
    save_step: int | None = None
    own: int = 0  # nanoseconds so far; 0: it does not tell
    value: float | None = None
    job: str = ""
    orchestrator: Orchestrator | None = None
    rank: int | None = None
    local_rank: int | None = None
    world_size: int | None = None
    checkpoint: str | None = None
    pod: str = ""
    namespace: str = ""
    started_at: str = ""  # tells two runs with the same pid apart; never read as a time


def parse_beat(data: bytes) -> Beat | None:
    """Return what the beat file with the content *data* says; None when it is none, or not yet; never raises."""
    if len(data) < SIZE or not data.startswith(MAGIC):
        return None
    _, length, beats, at, step, phase, token, saved, saves, save_at, save_step, own = _NUMBERS.unpack_from(data)
    header = _header(data[_HEADER : _HEADER + length]) if 0 < length <= SIZE - _HEADER else None
    pid = _number(header, "pid", _LARGEST_PID) if header else None
    if not header or not pid:
        return None
    return Beat(
        pid=pid,
        pid_namespace=_number(header, "pid_namespace", _LARGEST_INODE),
        beats=beats,
        at=at,
        step=step if step >= 0 else None,
        phase=Phase(phase) if phase <= Phase.ENDED else Phase.UNKNOWN,
        saved_token=token,
        saved_step=saved if token and saved >= 0 else None,
        saves=saves,
        save_at=save_at,
        save_step=save_step if saves and save_step >= 0 else None,
        own=own,
        value=_value(header),
        job=_text(header, "job", LONGEST_JOB_ID),
        orchestrator=_orchestrator(header),
        rank=_number(header, "rank", _LARGEST_RANK),
        local_rank=_number(header, "local_rank", _LARGEST_RANK),
        world_size=_number(header, "world_size", _LARGEST_RANK),
        checkpoint=_text(header, "checkpoint", LONGEST_ADDRESS) or None,
        pod=_text(header, "pod", _NAME),
        namespace=_text(header, "namespace", _NAME),
        started_at=str(header.get("started_at", ""))[:64],
    )


def _header(raw: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _number(header: dict[str, Any], name: str, largest: int) -> int | None:
    value = header.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= largest else None


def _value(header: dict[str, Any]) -> float | None:
    value = header.get("value")
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST_VALUE
    return float(value) if known and value is not None else None


def _text(header: dict[str, Any], name: str, longest: int) -> str:
    """Return a text that is short enough; a longer one is not cut: it would name something else."""
    value = header.get(name)
    return value if isinstance(value, str) and len(value) <= longest and value.isprintable() else ""


def _orchestrator(header: dict[str, Any]) -> Orchestrator | None:
    try:
        return Orchestrator(header.get("orchestrator", ""))
    except ValueError:
        return None
