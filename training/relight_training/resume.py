"""Where to go on: what Relight said, unless the run has gone on from there since.

The order: environment, annotations, pointer object. A point is written once and stays; a process that is started again
later meets it again, and going back to it would throw work away. So a point is *used up* when a later save of the same
run is known (relight-progress.json), or when two neighbours of its checkpoint with later steps were written after it
was decided (one may be the torn save that this start comes from). It must not judge whether a checkpoint is whole.
"""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from relight_training import beats, progress
from relight_training.places import Folder, Place, UnreadableError, place_of
from relight_training.point import POINTER, RefusedError, ResumePoint, from_annotations, from_environment, from_pointer

if TYPE_CHECKING:
    from collections.abc import Mapping

log = logging.getLogger("relight_training")

CHECKPOINTS = "RELIGHT_CHECKPOINTS"
ANNOTATIONS = "RELIGHT_ANNOTATIONS"
_ANNOTATIONS_FILE = "/etc/podinfo/annotations"  # where the Kubernetes pages mount it
_NUMBERS = re.compile(r"[0-9]{1,18}")
_CLOCKS_DIFFER = timedelta(seconds=5)
_TORN_AT_MOST = 1


@dataclass
class _Run:
    """What this process went on from, for the progress it writes."""

    point: ResumePoint | None = None
    folder: str | None = None


_run = _Run()


def resume_point(checkpoints: str | os.PathLike[str] | None = None) -> ResumePoint | None:
    """Return where Relight wants this run to go on; None: it says nothing, load your newest complete checkpoint.

    *checkpoints* is the folder or `s3://` prefix in which the run saves (default: RELIGHT_CHECKPOINTS). Call it before
    anything is loaded, on every rank or on one that tells the others. It never raises; what it refuses it logs.
    """
    try:
        where = os.fspath(checkpoints) if checkpoints is not None else os.environ.get(CHECKPOINTS, "")
        place = place_of(where) if where else None
        point = _told(os.environ, place)
        _run.point, _run.folder = point, place.address if isinstance(place, Folder) else None
        return _going_on(point, place, os.environ) if point and place else point
    except (RefusedError, UnreadableError) as error:
        log.warning("no resume point: %s", error)
    except Exception:
        log.warning("no resume point: this went wrong", exc_info=True)
    return None


def saved(step: int, path: str | os.PathLike[str] | None = None, token: int | None = None) -> None:
    """Say that the save of *step* is whole (all ranks, all files): call it after every save. Never raises.

    It answers the agent's request: *token*, or the last one that `save_requested` told here. With *path*, where the
    save lies, the leading rank also notes it beside the checkpoints, so that a later start does not go back behind it.
    """
    beats.fulfil(step, token)
    try:
        if path is not None and beats.leads():
            _note(int(step), os.fspath(path))
    except Exception as error:  # noqa: BLE001 - a save that is not noted is saved all the same
        log.warning("%s was not noted in %s: %s", path, progress.PROGRESS, error)


def _told(environ: Mapping[str, str], place: Place | None) -> ResumePoint | None:
    named = from_environment(environ) or from_annotations(_annotations(environ))
    pointer = _pointer(place, needed=named is None) if place else None
    if named is None:
        return pointer
    if pointer is None or pointer.step != named.step:
        return named  # of a run of its own that shares the place
    return replace(named, incident=pointer.incident, decided_at=pointer.decided_at)


def _pointer(place: Place, *, needed: bool) -> ResumePoint | None:
    address = f"{place.address}/{POINTER}"
    try:
        body = place.read(POINTER)
        return None if body is None else from_pointer(body, told_by=address)
    except RefusedError as error:
        log.warning("%s is refused: %s", address, error)
    except UnreadableError:
        if needed:
            raise
    return None


def _going_on(point: ResumePoint, place: Place, environ: Mapping[str, str]) -> ResumePoint | None:
    """Return *point* as it can be opened here, or what took its place."""
    later = _progress(place)
    if later is not None and later.follows(point, environ.get("TRAINING_JOB_NAME")):
        path = place.resolve(later.path)
        if path is not None:
            return replace(point, step=later.step, path=path, told_by=progress.PROGRESS)
    newer = _newer(point, place)
    if len(newer) > _TORN_AT_MOST:
        log.warning("the resume point at step %d is used up: the run has since written %s", point.step, newer[-3:])
        return None
    here = place.resolve(point.path)
    if here is None and point.told_by.endswith(POINTER):
        log.warning("the resume point %s (step %d) does not lie in %s", point.path, point.step, place.address)
        return None
    return replace(point, path=here or point.path)


def _progress(place: Place) -> progress.Progress | None:
    try:
        return progress.read(place)
    except UnreadableError:
        return None


def _newer(point: ResumePoint, place: Place) -> list[str]:
    alike = _alike(point)
    if point.decided_at is None or alike is None:
        return []
    since = point.decided_at + _CLOCKS_DIFFER
    try:
        entries = place.entries()
    except UnreadableError:
        return []
    steps = ((int(found[found.re.groups]), name) for name in entries if (found := alike.match(name)))
    return [name for step, name in sorted(steps) if step > point.step and entries[name] > since]


def _alike(point: ResumePoint) -> re.Pattern[str] | None:
    """Return what names like the one of the point's checkpoint match, the step last; None when it is no such name."""
    name = point.path.rstrip("/").rpartition("/")[2]
    numbers = _NUMBERS.findall(name)
    if not numbers or int(numbers[-1]) != point.step:
        return None
    return re.compile("([0-9]{1,18})".join(re.escape(part) for part in _NUMBERS.split(name)) + r"\Z")


def _annotations(environ: Mapping[str, str]) -> str:
    try:
        with open(environ.get(ANNOTATIONS) or _ANNOTATIONS_FILE, encoding="utf-8", errors="replace") as file:
            return file.read(1024 * 1024)
    except OSError:
        return ""


def _note(step: int, path: str) -> None:
    where = os.environ.get(CHECKPOINTS, "")
    folder = _run.folder or (where if where and "://" not in where else None) or os.path.dirname(path) or "."
    if "://" in path or "://" in folder:
        return
    inside = os.path.relpath(path, folder)
    point, job = _run.point, os.environ.get("TRAINING_JOB_NAME")
    progress.write(
        folder,
        progress.Progress(
            step=step,
            path=path if inside.startswith("..") else inside,
            resumed_from=point.step if point else None,
            incident=point.incident if point else None,
            job=job,
        ),
    )
