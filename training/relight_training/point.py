"""What a resume point is, and how it is read from what Relight wrote. Pure: bytes and mappings in, points out.

Written by functions/kubernetes/pointer.py and resume.py (pointer object, annotations on the pods) and by
functions/sagemaker/lineage.py (environment of the successor). What is not wholly right is refused, with the reason.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from relight_training.places import LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping

POINTER = "relight-resume.json"
STEP, FROM = "RELIGHT_RESUME_STEP", "RELIGHT_RESUME_FROM"
_ANNOTATIONS = {STEP: "relight.dev/resume-step", FROM: "relight.dev/resume-from"}
_NUMBER_AT_THE_END = re.compile(r"([0-9]{1,18})(?:\.[A-Za-z]{1,8})?/*$")
_MOST_STEPS = 2**63 - 1
_LONGEST_PATH, _LONGEST_INCIDENT = 4096, 256
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class RefusedError(ValueError):
    """What was read is no resume point; the message says why."""


@dataclass(frozen=True)
class ResumePoint:
    """Where to go on: load *path*, which holds everything up to and with *step* (steps of the optimizer).

    ``incident`` is Relight's, where it was told. ``decided_at`` (aware) is when the point was chosen, None where
    nothing tells. ``told_by`` names what said so, for the log.
    """

    step: int
    path: str
    incident: str | None = None
    decided_at: datetime | None = None
    told_by: str = ""


def from_environment(environ: Mapping[str, str], told_by: str = "environment") -> ResumePoint | None:
    """Return the point that the launcher put into the environment; None without one. RefusedError for half of one."""
    step, path = environ.get(STEP, "").strip(), environ.get(FROM, "").strip()
    if not step and not path:
        return None
    if not path:
        raise RefusedError(f"{STEP} is set and {FROM} is not: map both annotations")
    if not step:
        found = _NUMBER_AT_THE_END.search(path)
        if found is None:
            raise RefusedError(f"{FROM}={path} names no step and {STEP} is not set: map both annotations")
        step = found[1]
    if not (step.isascii() and step.isdigit()):
        raise RefusedError(f"{STEP}={step[:40]!r} is no number")
    return ResumePoint(step=_step(int(step[:20])), path=_path(path), told_by=told_by)


def from_annotations(text: str) -> ResumePoint | None:
    """Return the point in the Downward API's file of annotations: lines `key="value"`, quoted as Go does."""
    found = {}
    for line in text.splitlines():
        key, _, quoted = line.partition("=")
        for name, annotation in _ANNOTATIONS.items():
            if key == annotation:
                found[name] = _unquoted(quoted)
    return from_environment(found, told_by="annotations")


def from_pointer(body: bytes, told_by: str) -> ResumePoint:
    """Return the point in a pointer object. RefusedError when it is half, foreign or no pointer at all."""
    told = parse_object(body)
    incident, time = told.get("incident"), told.get("time")
    if incident is not None and (
        not isinstance(incident, str) or len(incident) > _LONGEST_INCIDENT or _CONTROL.search(incident)
    ):
        raise RefusedError("its incident is no name")
    return ResumePoint(
        step=_step(told.get("step")),
        path=_path(told.get("path")),
        incident=incident,
        decided_at=None if time is None else moment(time),
        told_by=told_by,
    )


def parse_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in *body*. RefusedError when it holds none, or too much."""
    if len(body) > LIMIT:
        raise RefusedError(f"it has more than {LIMIT} bytes")
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        raise RefusedError("it is no JSON, or half written") from None
    if not isinstance(told, dict):
        raise RefusedError("it is no JSON object")
    return told


def moment(value: object) -> datetime:
    """Return the aware moment in *value*, RFC 3339. RefusedError when it is none."""
    try:
        read = datetime.fromisoformat(str(value)[:40].replace("Z", "+00:00"))
    except ValueError:
        raise RefusedError("its time is none") from None
    return read if read.tzinfo else read.replace(tzinfo=timezone.utc)


def _step(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_STEPS:
        raise RefusedError(f"its step is no step: {str(value)[:40]!r}")
    return value


def _path(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_PATH or _CONTROL.search(value):
        raise RefusedError("its path is none")
    if ".." in value.split("/"):
        raise RefusedError("its path leads upwards")
    return value


def _unquoted(quoted: str) -> str:
    try:
        value = json.loads(quoted)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""
