"""Cgroups of version 2 as /sys shows them, made up for tests: what happens in one counts in all above it."""

from pathlib import Path


def cgroup(sysfs: Path, name: str, *, limit: int | None = None) -> Path:
    """Make the cgroup *name* and those above it."""
    root = sysfs / "fs/cgroup"
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    (root / "cgroup.controllers").write_text("cpu memory pids\n")
    for one in [folder, *folder.parents]:
        if one == root:
            break
        if not (one / "memory.events").exists():
            _write(one, {"low": 0, "high": 0, "max": 0, "oom": 0, "oom_kill": 0, "oom_group_kill": 0})
            (one / "memory.max").write_text("max\n")
    if limit is not None:
        (folder / "memory.max").write_text(f"{limit}\n")
    return folder


def kill(sysfs: Path, name: str, *, limited: str = "", count: int = 1) -> None:
    """Count processes of *name* as killed, because of the limit of *limited* (empty: the node's memory)."""
    if limited:
        _add(sysfs, limited, {"oom": count, "max": 40 * count})
    _add(sysfs, name, {"oom_kill": count})


def _add(sysfs: Path, name: str, more: dict[str, int]) -> None:
    parts = name.split("/")
    for depth in range(len(parts), 0, -1):
        folder = sysfs / "fs/cgroup" / "/".join(parts[:depth])
        words = (folder / "memory.events").read_text().split()
        counts = {key: int(value) for key, value in zip(words[::2], words[1::2], strict=True)}
        _write(folder, {key: value + more.get(key, 0) for key, value in counts.items()})


def _write(folder: Path, counts: dict[str, int]) -> None:
    fresh = folder / "memory.events.fresh"  # a kernel's file is never half a file
    fresh.write_text("".join(f"{key} {value}\n" for key, value in counts.items()))
    fresh.replace(folder / "memory.events")
