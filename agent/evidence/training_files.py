"""What training processes left in files: NCCL flight-recorder dumps, beats, the ends of logs. In the child process.

Decides where dumps are looked for. They are copied, never parsed: a dump is a pickle, and a pickle is a program. Only a
file of the process's own user is taken, since its environment may name any. It must not know faults.

Where PyTorch writes: `<prefix><rank>`, the prefix from TORCH_FR_DUMP_TEMP_FILE or TORCH_NCCL_DEBUG_INFO_TEMP_FILE; by
default /tmp/nccl_trace_rank_ (to 2.7), then $XDG_CACHE_HOME/torch/comm_lib_trace_rank_ or
~/.cache/torch/comm_lib_trace_rank_ (torch/csrc/distributed/c10d/FlightRecorder.cpp, DebugInfoWriter::getWriter).
"""

import os
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agent.evidence.bounded import BoundedFile, chunks, names_below, open_below, read_text
from agent.evidence.masking import mask

_OLD_PREFIX = "/tmp/nccl_trace_rank_"  # noqa: S108 - where PyTorch writes, not we
_NEW_NAME = "torch/comm_lib_trace_rank_"
_DUMPS_AT_MOST, _NAMES_AT_MOST = 64, 4096
_RECENT_SECONDS = 3600.0
_ENVIRON_BYTES = 256 * 1024
BEAT_BYTES, _BEATS_AT_MOST = 4096, 256
_PHASES = ("unknown", "starting", "compile", "train", "save", "evaluate", "load", "ended")


def environment_of(process: Path) -> dict[str, str]:
    """Return the environment of a process, for look-ups only; OSError when it is not ours to read."""
    pairs = (pair.partition("=") for pair in read_text(process / "environ", _ENVIRON_BYTES).split("\0"))
    return {name: value for name, _, value in pairs if name}


def prefixes(environ: Mapping[str, str]) -> list[str]:
    """Return what the names of the dumps of a process with this environment may begin with."""
    told = [environ.get(name, "") for name in ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")]
    cache = environ.get("XDG_CACHE_HOME") or (f"{environ['HOME']}/.cache" if environ.get("HOME") else "")
    return list(dict.fromkeys(filter(None, [*told, _OLD_PREFIX, f"{cache}/{_NEW_NAME}" if cache else ""])))


def dumps_of(process: Path) -> Iterator[tuple[str, int]]:
    """Yield name and descriptor of each dump that the process at /proc/<pid> could have written; close them."""
    owner = process.stat().st_uid
    for prefix in prefixes(environment_of(process)):
        yield from _named(process / ("root" if prefix.startswith("/") else "cwd"), prefix, owner)


def dumps_left(host: Path, now: float) -> Iterator[tuple[str, int]]:
    """Yield the same of what ranks that ended left at PyTorch's old default on the node itself, within the hour."""
    for name, descriptor in _named(host / "root", _OLD_PREFIX, None):
        if now - os.fstat(descriptor).st_mtime < _RECENT_SECONDS:
            yield name, descriptor
        else:
            os.close(descriptor)


def _named(root: Path, prefix: str, owner: int | None) -> Iterator[tuple[str, int]]:
    folder, _, beginning = prefix.rpartition("/")
    try:
        names = names_below(root, folder or ".", _NAMES_AT_MOST)
    except OSError:
        return
    for name in sorted(name for name in names if name.startswith(beginning) and name[len(beginning) :].isdigit()):
        try:
            yield name, open_below(root, f"{folder}/{name}", owner)
        except OSError:
            continue


def copy_dumps(
    folder: Path, processes: Sequence[Path], limit: int, each: int, host: Path | None = None
) -> list[dict[str, object]]:
    """Copy the dumps of *processes* into *folder*, each file once; return what was kept.

    *host* is /proc/1 as we see it: what ranks that ended left on the node is copied too.
    """
    kept: list[dict[str, object]] = []
    seen: set[tuple[int, int]] = set()
    for process in [*processes, *([host] if host else [])]:
        try:
            for name, descriptor in dumps_left(process, time.time()) if process is host else dumps_of(process):
                with os.fdopen(descriptor, "rb") as file:
                    status = os.fstat(file.fileno())
                    if (status.st_dev, status.st_ino) in seen or len(seen) == _DUMPS_AT_MOST or limit <= 0:
                        continue
                    seen.add((status.st_dev, status.st_ino))
                    told = _copy(file.fileno(), folder, f"flight-recorder-{process.name}-{name}", min(limit, each))
                limit -= int(str(told["bytes"]))
                kept.append(told)
        except OSError as error:
            kept.append({"name": f"flight-recorder-{process.name}", "error": f"cannot be looked for: {error.strerror}"})
    return kept


def copy_tails(folder: Path, paths: Sequence[str], limit: int, each: int) -> list[dict[str, object]]:
    """Copy the ends of the logs at *paths* into *folder*, masked."""
    kept: list[dict[str, object]] = []
    for number, path in enumerate(paths):
        name = f"training-log-{number}.txt"
        if limit <= 0:
            break
        try:
            descriptor = open_below(Path("/"), path)
        except OSError as error:
            kept.append({"name": name, "error": f"{path}: {error.strerror}"})
            continue
        with os.fdopen(descriptor, "rb") as file:
            text = b"".join(chunks(file.fileno(), min(limit, each), tail=True)).decode("utf-8", "replace")
            whole = os.fstat(file.fileno()).st_size <= min(limit, each)
        told = write_text(folder, name, f"# {path}\n{mask(text)}", min(limit, each) + 512)
        kept.append(told | {"cut": not whole})
        limit -= int(str(told["bytes"]))
    return kept


def write_beats(folder: Path, beats: Path, limit: int) -> list[dict[str, object]]:
    """Write down what the beat files say (their layout: docs/agent.md)."""
    lines: list[str] = []
    for name in sorted(names_below(beats, ".", _NAMES_AT_MOST))[:_BEATS_AT_MOST]:
        if not name.endswith(".beat"):
            continue
        try:
            descriptor = open_below(beats, name)
        except OSError as error:
            lines.append(f"{name}: {error.strerror}")
            continue
        with os.fdopen(descriptor, "rb") as file:
            lines.append(f"{name}: {_beat(file.read(BEAT_BYTES))}")
    return [write_text(folder, "beats.txt", "\n".join(lines), limit)]


def _beat(data: bytes) -> str:
    if len(data) < BEAT_BYTES or data[:8] != b"RLBEAT01":
        return "is no beat file"
    length, beats, last, step, phase = struct.unpack_from("<I4xQQqI", data, 8)
    saved, at_step = struct.unpack_from("<Qq", data, 48)
    (asked,) = struct.unpack_from("<Q", data, 256)
    named = _PHASES[phase] if phase < len(_PHASES) else phase
    header = mask(data[512 : 512 + min(length, BEAT_BYTES - 512)].decode("utf-8", "replace"))
    return (
        f"beats={beats} last={last / 1e9:.3f}s step={step} phase={named} saved={saved}@{at_step} asked={asked} {header}"
    )


def write_text(folder: Path, name: str, text: str, limit: int) -> dict[str, object]:
    """Write one part; return what was kept of it."""
    out = BoundedFile(folder / f".{name}", limit)
    try:
        out.line(text)
    finally:
        out.close()
    (folder / f".{name}").rename(folder / name)
    return {"name": name, "bytes": out.size, "cut": out.cut}


def _copy(descriptor: int, folder: Path, name: str, limit: int) -> dict[str, object]:
    out = BoundedFile(folder / f".{name}", limit)
    try:
        for chunk in chunks(descriptor, limit + 1):
            out.write(chunk)
    finally:
        out.close()
    (folder / f".{name}").rename(folder / name)
    return {"name": name, "bytes": out.size, "cut": out.cut}
