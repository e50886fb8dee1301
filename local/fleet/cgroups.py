"""A pod's cgroup (version 2) in a node's simulated sysfs, and the kernel killing for want of memory in it.

Sources: Documentation/admin-guide/cgroup-v2.rst (memory.events counts upwards: each cgroup with those below it); the
names are those of kubelet with the systemd driver and containerd. It must not know processes.
"""

import hashlib
from pathlib import Path

LIMIT_BYTES = 1536 << 30  # what the container of a rank may use: three quarters of a p5.48xlarge
_EVENTS = "low 0\nhigh 0\nmax {oom}\noom {oom}\noom_kill {kills}\noom_group_kill 0\n"


def mount(sysfs: Path) -> None:
    """Show an empty hierarchy, as a node does before its first pod."""
    (sysfs / "fs" / "cgroup").mkdir(parents=True, exist_ok=True)


def make(sysfs: Path, pod_uid: str) -> None:
    """Make the cgroups from the root's child down to the container's."""
    container = _container(sysfs, pod_uid)
    container.mkdir(parents=True, exist_ok=True)
    for folder in _chain(sysfs, container):
        if not (folder / "memory.events").exists():
            _write(folder, oom=0, kills=0)
    (container / "memory.max").write_text(f"{LIMIT_BYTES}\n")


def kill(sysfs: Path, pod_uid: str) -> None:
    """Count that the container hit its limit and a process of it was killed: in it, and in all above."""
    for folder in _chain(sysfs, _container(sysfs, pod_uid)):
        words = (folder / "memory.events").read_text().split()
        counts = dict(zip(words[::2], map(int, words[1::2]), strict=True))
        # Whose limit was hit counts in "oom" from there upwards.
        _write(folder, oom=counts["oom"] + 1, kills=counts["oom_kill"] + 1)


def _write(folder: Path, *, oom: int, kills: int) -> None:
    draft = folder / ".memory.events"
    draft.write_text(_EVENTS.format(oom=oom, kills=kills))
    draft.replace(folder / "memory.events")  # a reader sees the old numbers or the new ones


def _container(sysfs: Path, pod_uid: str) -> Path:
    number = hashlib.sha256(pod_uid.encode()).hexdigest()
    slices = f"kubepods.slice/kubepods-pod{pod_uid.replace('-', '_')}.slice"
    return sysfs / "fs" / "cgroup" / slices / f"cri-containerd-{number}.scope"


def _chain(sysfs: Path, container: Path) -> list[Path]:
    """From the innermost outwards, the root left out: it has no such file."""
    root = sysfs / "fs" / "cgroup"
    return [container, *(parent for parent in container.parents if parent != root and root in parent.parents)]
