"""`journalctl -f` as a child process: bytes of its output, and what it said when it ended.

Decides how it is asked: the wanted units, what the manager says of them, and what the journal itself has left out; from
a cursor on, that entry included, since only then it shows whether the entry is still there. It must not know entries.

Source: journalctl(1) of systemd 252: matches of one field are alternatives, "+" is a disjunction of groups.
"""

import os
import select
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from agent.journal.entry import FIELDS

PROGRAM = "journalctl"
CHUNK_BYTES = 64 * 1024
_SAID_BYTES = 2048
_END_SECONDS = 2.0


class JournalEndedError(OSError):
    """The child process is gone."""


def command(units: Sequence[str], cursor: str | None, program: str = PROGRAM) -> list[str]:
    """Return the words that follow *units* from *cursor* on; without one from the beginning of this boot."""
    asked = [
        program,
        "--follow",
        "--no-tail",
        "--all",
        "--quiet",
        "--output=json",
        f"--output-fields={','.join(FIELDS)}",
    ]
    asked.append(f"--cursor={cursor}" if cursor else "--boot")
    for unit in units:
        asked += [f"_SYSTEMD_UNIT={unit}", "+", "_PID=1", f"UNIT={unit}", "+"]
    return [*asked, "_TRANSPORT=driver"]


class JournalChild:
    """A running journalctl. One thread uses it."""

    def __init__(self, words: Sequence[str]) -> None:
        """Start it; FileNotFoundError when there is none."""
        self._process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()
        )
        self._out, self._error = _pipe(self._process.stdout), _pipe(self._process.stderr)
        self._said = b""
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._error, select.POLLIN)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def read(self, timeout: float) -> bytes:
        """Return what came within *timeout* seconds; JournalEndedError when nothing will come any more."""
        ready = dict(self._poll.poll(timeout * 1000))
        if self._error in ready:
            self._listen()
        if self._out not in ready:
            return b""
        chunk = os.read(self._out, CHUNK_BYTES)
        if not chunk:
            raise JournalEndedError(f"{PROGRAM} ended ({self._ending()})")
        return chunk

    def close(self) -> None:
        """End it. It holds nothing; the signals that it inherited blocked, as ours are, would not reach it."""
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):  # it may hang in the kernel on a sick disk
            self._process.wait(_END_SECONDS)
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()

    def _listen(self) -> None:
        said = os.read(self._error, _SAID_BYTES)
        self._said = (self._said + said)[-_SAID_BYTES:]
        if not said:
            self._poll.unregister(self._error)

    def _ending(self) -> str:
        try:
            status = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        os.set_blocking(self._error, False)
        with suppress(OSError):
            self._said = (self._said + os.read(self._error, _SAID_BYTES))[-_SAID_BYTES:]
        words = self._said.decode("utf-8", "replace").strip() or "said nothing"
        return f"status {status}: {words}"


def _pipe(stream: IO[bytes] | None) -> int:
    assert stream is not None, "it was asked for"
    return stream.fileno()


def _environment() -> dict[str, str]:
    """Our own, without a pager and in plain English."""
    return {**os.environ, "SYSTEMD_PAGER": "", "SYSTEMD_COLORS": "0", "LC_ALL": "C"}
