"""Who this process is, from what its launcher put into the environment. Pure: mappings in, mapping out.

Sources: torchrun (RANK, LOCAL_RANK, WORLD_SIZE), Slurm's srun (SLURM_PROCID, SLURM_LOCALID, SLURM_NTASKS,
SLURM_JOB_ID), Open MPI and PMI, SageMaker's training toolkit (TRAINING_JOB_NAME), Kubeflow's training operator (a pod
of a PyTorchJob is called `<job>-master-0` or `<job>-worker-3`, and MASTER_ADDR or PET_RDZV_ENDPOINT names its first
one). The agent reads the same from outside (its processes.py); what is told here wins there.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Union

from relight_training.layout import HEADER_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Header = dict[str, Union[str, int, float]]  # an alias is evaluated, by Python 3.9 too, which has no `str | int`

RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
LOCAL_RANKS = ("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID")
VALUE = "RELIGHT_JOB_VALUE"
LARGEST_VALUE = 1e15
WORLD_SIZES = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_POD_OF_JOB = re.compile(r"^([a-z0-9](?:[-a-z0-9]{0,200}[a-z0-9])?)-(?:master|worker)-[0-9]{1,6}(?:[.:]|$)")
_NAMESPACE_OF_ADDRESS = re.compile(r"^[^.:]+\.([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)(?:\.svc|[.:]|$)")
_LONGEST = {"checkpoint": 1024, "job": 317}  # an S3 key; a namespace, a slash and a name
_LONG = 253  # the longest name that Kubernetes and DNS know


def describe(environ: Mapping[str, str], namespace_file: str = "") -> Header:
    """Return what *environ* tells; *namespace_file* is the text of the pod's service account namespace, if any."""
    namespace = environ.get("POD_NAMESPACE") or namespace_file.strip() or None
    found: dict[str, str | int | float | None] = {
        **_job(environ, namespace),
        "rank": number(environ, RANKS),
        "local_rank": number(environ, LOCAL_RANKS),
        "world_size": number(environ, WORLD_SIZES),
        "checkpoint": environ.get("RELIGHT_CHECKPOINTS") or None,
        "value": _value(environ.get(VALUE, "")),
        **(_pod(environ, namespace) if _in_kubernetes(environ) else {}),
    }
    return {name: value for name, value in found.items() if value is not None}


def number(environ: Mapping[str, str], names: Iterable[str]) -> int | None:
    """Return the first of *names* that is a plain number."""
    for name in names:
        value = environ.get(name, "")
        if value.isascii() and value.isdigit() and len(value) <= 9:  # noqa: PLR2004 - more would be no rank
            return int(value)
    return None


def _value(text: str) -> float | None:
    """Return how dear the job is to its operator; more than LARGEST_VALUE would mean nothing any more."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= LARGEST_VALUE else None


def encode(header: Header) -> bytes:
    """Return the header's JSON, at most HEADER_LIMIT bytes. What is too long is left out: cut it would name another."""
    kept = {
        name: value
        for name, value in header.items()
        if not isinstance(value, str) or len(value) <= _LONGEST.get(name, _LONG)
    }
    for expendable in ("", "checkpoint", "pod", "namespace", "job"):
        kept.pop(expendable, None)
        text = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        if len(text) <= HEADER_LIMIT:
            return text
    return b"{}"


def _job(environ: Mapping[str, str], namespace: str | None) -> Header:
    if explicit := environ.get("RELIGHT_JOB"):
        orchestrator = environ.get("RELIGHT_ORCHESTRATOR") or _orchestrator(environ)
        return {"job": explicit, **({"orchestrator": orchestrator} if orchestrator else {})}
    if name := environ.get("TRAINING_JOB_NAME"):
        return {"job": name, "orchestrator": "sagemaker"}
    if slurm := environ.get("SLURM_JOB_ID"):
        return {"job": slurm, "orchestrator": "slurm"}
    return _pytorchjob(environ, namespace) if _in_kubernetes(environ) else {}


def _pytorchjob(environ: Mapping[str, str], namespace: str | None) -> Header:
    addresses = [environ.get(name, "") for name in ("HOSTNAME", "POD_NAME", "MASTER_ADDR", "PET_RDZV_ENDPOINT")]
    for address in addresses:
        name, within = _POD_OF_JOB.match(address), _NAMESPACE_OF_ADDRESS.match(address)
        place = namespace or (within[1] if within else None)
        if name and place:
            return {"job": f"{place}/{name[1]}", "orchestrator": "eks"}
    return {}


def _orchestrator(environ: Mapping[str, str]) -> str | None:
    if environ.get("TRAINING_JOB_NAME"):
        return "sagemaker"
    if environ.get("SLURM_JOB_ID"):
        return "slurm"
    return "eks" if _in_kubernetes(environ) else None


def _pod(environ: Mapping[str, str], namespace: str | None) -> dict[str, str | None]:
    return {"pod": environ.get("POD_NAME") or environ.get("HOSTNAME") or None, "namespace": namespace}


def _in_kubernetes(environ: Mapping[str, str]) -> bool:
    return "KUBERNETES_SERVICE_HOST" in environ
