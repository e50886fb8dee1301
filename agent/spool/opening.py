"""How a spool begins: with what the last process left, or new.

Decides whose spool a folder holds and what is done with a damaged one. It must not know what waits in it.
"""

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from agent.spool.journal import Journal, JournalContents, open_journal
from agent.spool.limits import Loss, SpoolLimits
from agent.spool.spool import Spool
from agent.spool.state import SpoolState, apply_head, apply_line
from policies.contract.errors import SettingsError
from policies.contract.events import FaultEvent

log = logging.getLogger(__name__)

JOURNAL_NAME = "spool.journal"
_LOOK_SECONDS = 0.02


class SpoolInUseError(SettingsError):
    """Another process has the folder."""


@contextmanager
def open_spool(
    folder: Path,
    *,
    owner: str,
    boot_id: str,
    limits: SpoolLimits,
    clock: Callable[[], datetime],
    new_id: Callable[[], str],
    describe_loss: Callable[[str, Loss], FaultEvent],
    patience: float = 3.0,
) -> Iterator[Spool]:
    """Open the spool of instance *owner* in *folder*, for this process alone.

    SettingsError when the folder cannot be used, or another agent uses it for *patience* seconds (one that was killed
    holds it until its last thread is gone). A spool of another instance (the disk was
    cloned or moved) is set aside: its seqs are not ours to go on with, and its events speak of another machine. A spool
    of another boot goes on under a new id: what a machine that lost its power had sent may not be on its disk.
    """
    guard = _claim(folder, time.monotonic() + patience)
    path = folder / JOURNAL_NAME
    journal, state, damaged = _load_or_explain(path, SpoolState(new_id(), owner, boot_id))
    spool = Spool(state, path, journal, limits=limits, clock=clock, new_id=new_id, describe_loss=describe_loss)
    try:
        spool.begin(boot_id, damaged=damaged)
        yield spool
    finally:
        spool.close()
        os.close(guard)


def _claim(folder: Path, deadline: float) -> int:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        guard = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        msg = f"the spool folder {folder} cannot be used ({error.strerror})."
        raise SettingsError(msg, hint="Set RELIGHT_AGENT_SPOOL_DIR to a local folder of the agent's.") from None
    while not _locked(guard):
        if time.monotonic() >= deadline:
            os.close(guard)
            msg = f"another agent uses the spool folder {folder}."
            raise SpoolInUseError(msg, hint="Stop it, or give this one a spool_dir of its own.")
        time.sleep(_LOOK_SECONDS)
    return guard


def _locked(guard: int) -> bool:
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _load_or_explain(path: Path, new: SpoolState) -> tuple[Journal | None, SpoolState, int]:
    try:
        return _load(path, new)
    except OSError as error:
        msg = f"the spool {path} cannot be used ({error.strerror})."
        raise SettingsError(
            msg, hint="Check the disk, the file's owner, and whether it is mounted read-only."
        ) from None


def _load(path: Path, new: SpoolState) -> tuple[Journal | None, SpoolState, int]:
    """Return the open file, what it says and how many of its lines were damaged; *new* where it says nothing for us."""
    try:
        journal, contents = open_journal(path)
    except FileNotFoundError:
        return None, new, 0
    state = replay(contents)
    if state is not None and state.owner == new.owner:
        return journal, state, contents.damaged
    log.error("spool set aside", extra={"of": state.owner if state else "nobody", "path": f"{path}.aside"})
    journal.close()
    path.rename(f"{path}.aside")
    return None, new, 0 if state else 1


def replay(contents: JournalContents) -> SpoolState | None:
    """Return the state that the good lines make; None without a good head, since the seqs would have no spool id."""
    state = apply_head(contents.entries[0]) if contents.entries else None
    if state is not None:
        for entry in contents.entries[1:]:
            apply_line(state, entry)
    return state
