"""Whose cgroup it is, by its path: a pod's container, Docker's, Slurm's, a unit of systemd.

It must not know counters.

Sources: kubernetes pkg/kubelet/cm (systemd: kubepods-burstable-pod<uid with _>.slice; cgroupfs: kubepods/burstable/
pod<uid>), containerd (cri-containerd-<id>.scope), cri-o (crio-<id>.scope), Docker (docker-<id>.scope, docker/<id>);
Slurm's cgroup plugins (job_<id>/step_<step>).
"""

import re
from dataclasses import dataclass

_POD = re.compile(r"(?:^|[/-])pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?(?:/|$)")
_CONTAINER = re.compile(r"(?:^|/)(?:[a-z-]{1,32}-)?([0-9a-f]{64})(?:\.scope)?(?:/|$)")
_SLURM = re.compile(r"(?:^|/)job_([0-9]{1,10})(?:/step_([0-9a-z_]{1,16}))?(?:/|$)")
_UNIT = re.compile(r"(?:^|/)([^/]{1,200}\.service)(?:/|$)")


@dataclass(frozen=True, slots=True)
class CgroupOwner:
    """Empty where the path does not say."""

    pod_uid: str = ""
    container: str = ""
    slurm_job: str = ""
    slurm_step: str = ""
    unit: str = ""


def owner_of(cgroup: str) -> CgroupOwner:
    """Return whose *cgroup* it is; the innermost counts."""
    pod, slurm = _last(_POD, cgroup), _last(_SLURM, cgroup)
    container, unit = _last(_CONTAINER, cgroup), _last(_UNIT, cgroup)
    return CgroupOwner(
        pod_uid=pod[1].replace("_", "-") if pod else "",
        container=container[1] if container else "",
        slurm_job=slurm[1] if slurm else "",
        slurm_step=(slurm[2] or "") if slurm else "",
        unit=unit[1] if unit else "",
    )


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    return found
