"""Beat files as the training side writes them, and processes as /proc shows them, made up for tests."""

import json
import os
import struct
from pathlib import Path
from typing import Any

from agent.job.beat import Phase

NAMESPACE = 4026531836  # the first pid namespace of every kernel: include/linux/proc_ns.h, PROC_PID_INIT_INO


def beat_bytes(
    *,
    pid: int = 100,
    beats: int = 1,
    at: float = 1.0,
    step: int = -1,
    phase: int = Phase.TRAIN,
    saved: tuple[int, int] = (0, -1),
    saves: tuple[int, float, int] = (0, 0.0, -1),
    own: float = 0.0,
    **header: object,
) -> bytes:
    """Return a beat file's 4096 bytes; *at* is seconds since boot; *saves*: how many, when, which step."""
    told = {"pid": pid, "pid_namespace": NAMESPACE, **header}
    raw = json.dumps({name: value for name, value in told.items() if value is not None}).encode()
    data = bytearray(4096)
    struct.pack_into("<8sI4xQQqI4xQq", data, 0, b"RLBEAT01", len(raw), beats, int(at * 1e9), step, phase, *saved)
    struct.pack_into("<QQqQ", data, 64, saves[0], int(saves[1] * 1e9), saves[2], int(own * 1e9))
    data[512 : 512 + len(raw)] = raw
    return bytes(data)


def beat(folder: Path, name: str = "a", **fields: Any) -> Path:  # noqa: ANN401 - as beat_bytes takes them
    """Write a beat file in place, as a process would, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.beat"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        os.pwrite(descriptor, beat_bytes(**fields), 0)
    finally:
        os.close(descriptor)
    return path


def process(
    proc: Path,
    pid: int,
    *,
    name: str = "python",
    state: str = "R",
    started: float = 0.5,
    cpu: float = 0.0,
    inner: int | None = None,
    uid: int | None = None,
    namespace: int | None = NAMESPACE,
    flags: int = 0x400000,
    killed: bool = False,
    files: tuple[str, ...] = (),
    environ: str = "",
    cgroup: str = "0::/user.slice",
    threads: tuple[str, ...] = (),
) -> Path:
    """Make or change process *pid* of a made-up /proc; *inner* is its pid in a namespace of its own."""
    folder = proc / str(pid)
    (folder / "fd").mkdir(parents=True, exist_ok=True)
    (folder / "ns").mkdir(exist_ok=True)
    fields = ["0"] * 49
    fields[0], fields[5], fields[10], fields[18] = "1", str(flags), str(int(cpu * 100)), str(int(started * 100))
    (folder / "stat").write_text(f"{pid} ({name}) {state} {' '.join(fields)}\n")
    pids = f"{pid}" if inner is None else f"{pid}\t{inner}"
    user = os.getuid() if uid is None else uid
    pending = "0000000000000100" if killed else "0" * 16
    (folder / "status").write_text(
        f"Name:\t{name}\nUid:\t{user}\t{user}\t{user}\t{user}\nNSpid:\t{pids}\n"
        f"SigPnd:\t{pending}\nShdPnd:\t{'0' * 16}\n"
    )
    link = folder / "ns" / "pid"
    link.unlink(missing_ok=True)
    if namespace is not None:
        link.symlink_to(f"pid:[{namespace}]")
    for number, target in enumerate(files):
        entry = folder / "fd" / str(number)
        entry.unlink(missing_ok=True)
        entry.symlink_to(target)
    (folder / "environ").write_text(environ.replace(" ", "\0"))
    (folder / "cgroup").write_text(cgroup)
    for number, thread in enumerate(threads):
        task = folder / "task" / str(pid + number)
        task.mkdir(parents=True, exist_ok=True)
        (task / "stat").write_text(f"{pid + number} ({name}) {thread} {' '.join(fields)}\n")
    return folder
