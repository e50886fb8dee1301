"""The beat of this process: what a training loop calls. It never raises into training and never waits.

The file is made at the first beat. Where none can be made that is said once, and tried again once a minute, so that an
agent that comes later still hears. It must not know how a file is laid out or what a framework is.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from contextlib import suppress
from datetime import datetime, timezone
from threading import Lock

from relight_training import folder, standing
from relight_training.beatfile import BeatFile, make
from relight_training.header import RANKS, Header, describe, encode, number
from relight_training.layout import PHASES
from relight_training.version import VERSION

log = logging.getLogger("relight_training")

_NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
_AGAIN_AFTER = 60.0  # seconds


class _Process:
    """What this process has: its file, or when to try again for one."""

    def __init__(self) -> None:
        self.file: BeatFile | None = None
        self.try_at = 0.0
        self.told: set[str] = set()
        self.facts: Header = {}
        self.watched = False
        self.over = False
        self.lock = Lock()

    def forget(self) -> None:
        """Be a child that has nothing yet: a new lock too, since a thread of the parent may have held the old one."""
        self.file, self.try_at, self.over, self.lock = None, 0.0, False, Lock()


_process = _Process()


def beat(step: int | None = None, phase: str | None = None, own: float | None = None) -> None:
    """Say that this process is alive: *step* of the optimizer, *phase* of layout.PHASES; None leaves what was said.

    *own*: seconds since the last beat in which this rank waited for no other, reading its batch say; where ranks go in
    step it is all that tells the slow one from those that wait for it. Some hundred nanoseconds. The phase holds until
    another is given; a step ends ``starting`` and ``ended`` by itself.
    """
    try:
        file = _process.file
        if file is None:
            file = _open()
            if file is None:
                return
        if not file.beat(step, None if phase is None else PHASES[phase], own):
            _again(file)
    except Exception as error:  # noqa: BLE001 - training must not learn of our troubles
        _beat_without(step, phase, error)


def save_requested() -> int | None:
    """Return the token of a save that the agent asks for and that was not yet made, else None. About 100 ns.

    Ranks see it at different steps: before a save in which all take part, agree (relight_training.agree).
    """
    file = _process.file
    try:
        return None if file is None else file.request()
    except Exception:  # noqa: BLE001 - the file was let go of by another thread
        return None


def fulfil(step: int, token: int | None = None) -> None:
    """Tell the agent that *step* is saved whole, and that this answers the request *token* (None: the last seen)."""
    file = _process.file
    try:
        if file is not None:
            file.saved(step)
            file.fulfil(step, token)
    except Exception as error:  # noqa: BLE001 - as above
        _say_once("saved", f"saved({step!r}) was not understood: {error}. Pass the step as a whole number.")


def start(**facts: str | int | None) -> None:
    """Make the file now, with *facts* (job, rank, local_rank, world_size, checkpoint) over what the environment tells.

    For launchers that put nothing into the environment. Called again with other facts it makes the file anew.
    """
    try:
        new: Header = {**_process.facts, **{name: value for name, value in facts.items() if value is not None}}
        if _process.file is not None and new == _process.facts:
            return
        _process.facts = new
        finish()
        _open()
    except Exception as error:  # noqa: BLE001 - as above
        _say_once("start", f"no beat file: {error}")


def finish() -> None:
    """Say goodbye before the process ends; a later beat begins anew."""
    with _process.lock:
        file, _process.file, _process.try_at = _process.file, None, 0.0
        if file is not None:
            file.end()


def leads() -> bool:
    """Whether this is the rank that writes what is written once: the first one, or the only one."""
    rank = _process.facts.get("rank")
    return not (number(os.environ, RANKS) if rank is None else rank)


def path() -> str | None:
    """Return where this process's file lies; None when it has none."""
    file = _process.file
    return None if file is None else file.path


def _open() -> BeatFile | None:
    if time.monotonic() < _process.try_at or _process.over or standing.is_helper():
        return None
    with _process.lock:
        if _process.file is not None:
            return _process.file
        _process.try_at = time.monotonic() + _AGAIN_AFTER
        _process.file = _make() if sys.byteorder == "little" else None
        if _process.file is not None:
            _watch()
        return _process.file


def _again(removed: BeatFile) -> None:
    """Make the file anew that somebody removed: an agent whose folder went with it when it was started anew, say."""
    with _process.lock:
        if _process.file is not removed:
            return
        _process.try_at = time.monotonic() + _AGAIN_AFTER
        _process.file = _make()
        if _process.file is not None:
            _process.file.take_over(removed)
            _process.file.beat(None, None)
        removed.abandon()


def _make() -> BeatFile | None:
    tried = folder.candidates(os.environ)
    namespace = folder.namespace_of_pids()
    header = encode(_header(namespace))
    why = []
    for place, may_be_made in tried:
        try:
            if may_be_made:
                os.makedirs(place, exist_ok=True)
            file = make(place, f"{os.getpid()}-{namespace}", header)
        except OSError as error:
            why.append(f"{place}: {error.strerror or error}")
            continue
        folder.sweep(place, namespace)
        return file
    if tried:
        _say_once(
            "folder",
            f"no beat is written ({'; '.join(why)}). Mount the node's {folder.DEFAULT} into the container, or set"
            f" {folder.ENVIRONMENT} to a folder that the agent watches, or to {folder.OFF}.",
        )
    return None


def _header(namespace: int) -> Header:
    now = datetime.now(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return {
        "pid": os.getpid(),
        **({"pid_namespace": namespace} if namespace else {}),
        **describe(os.environ, _read(_NAMESPACE_FILE)),
        **_process.facts,
        "started_at": now,
        "version": VERSION,
    }


def _read(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            return stream.read(256)
    except OSError:
        return ""


def _watch() -> None:
    standing.at_end(_goodbye)
    if not _process.watched:
        _process.watched = True
        standing.after_each_cell(_rest)


def _goodbye() -> None:
    """End in order; a process that an exception kills leaves its file, as one that a signal kills does."""
    _process.over = True  # a thread that still beats would leave a new file behind
    if not standing.dies_by_exception():
        finish()


def _rest() -> None:
    if _process.file is not None:
        beat(phase="ended")


def _forget() -> None:
    """In a forked child: the file is the parent's."""
    file = _process.file
    _process.forget()
    if file is not None:
        with suppress(Exception):
            file.abandon()


def _beat_without(step: object, phase: object, error: Exception) -> None:
    """Beat all the same when step or phase was not understood, and say so once."""
    _say_once(
        "beat", f"beat(step={step!r}, phase={phase!r}) was not understood: {error!r}. Phases: {', '.join(PHASES)}."
    )
    with suppress(Exception):
        file = _process.file
        if file is not None:
            file.beat(None, None)


def _say_once(what: str, message: str) -> None:
    if what not in _process.told:
        _process.told.add(what)
        log.warning(message)


standing.at_fork(_forget)
