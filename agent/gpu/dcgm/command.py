"""Runs `dcgmi health`, which asks DCGM's daemon, with a deadline and a limit on what it may say.

Decides when DCGM is not there for us: not installed, not running, no watch switched on (we switch none on: they are
somebody else's). It must not know what a report says.
"""

import os
import select
import shutil
import subprocess
import time
from contextlib import suppress
from typing import IO

from agent.polls.reading import NotHereError

PROGRAM = "dcgmi"
_ARGUMENTS = ("health", "-g", "0", "-c", "-j")  # group 0 is all GPUs
_DEADLINE_SECONDS = 20.0
_MOST_BYTES = 256 * 1024
_READ_BYTES = 16 * 1024
# dcgmi/Health.cpp and dcgmi/Command.cpp of NVIDIA's DCGM
_NO_WATCH, _NO_DAEMON = "Health watches not enabled", "nable to establish a connection"


class DcgmError(Exception):
    """DCGM is there and does not answer as it should."""


def health_report(program: str = PROGRAM, *, deadline: float = _DEADLINE_SECONDS) -> str:
    """Return what `dcgmi health` prints; NotHereError where there is no DCGM, DcgmError when it fails or hangs."""
    path = shutil.which(program)
    if path is None:
        msg = "DCGM is not installed (no dcgmi)"
        raise NotHereError(msg)
    text, status = _run([path, *_ARGUMENTS], deadline)
    if _NO_DAEMON in text:
        msg = "DCGM is installed and does not run (nv-hostengine)"
        raise NotHereError(msg)
    if _NO_WATCH in text:
        msg = "DCGM's health watches are off; `dcgmi health -g 0 -s a` switches them on"
        raise NotHereError(msg)
    if status:
        msg = f"dcgmi health ended with status {status}: {' '.join(text.split())[:200]}"
        raise DcgmError(msg)
    return text


def _run(command: list[str], deadline: float) -> tuple[str, int]:
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "LC_ALL": "C"},
        start_new_session=True,
    )
    assert child.stdout is not None, "it was asked for"
    ends = time.monotonic() + deadline
    try:
        said = _read(child.stdout, ends)
        status = child.wait(max(0.1, ends - time.monotonic()))
    except subprocess.TimeoutExpired:
        msg = f"dcgmi health did not end within {deadline:.0f} s"
        raise DcgmError(msg) from None
    finally:
        child.kill()
        with suppress(subprocess.TimeoutExpired):  # one that hangs in the kernel cannot be killed
            child.wait(1.0)
        child.stdout.close()
    return said.decode("utf-8", "replace"), status


def _read(stdout: IO[bytes], ends: float) -> bytes:
    said = b""
    while len(said) < _MOST_BYTES:
        left = ends - time.monotonic()
        if left <= 0 or not select.select([stdout], [], [], left)[0]:
            raise subprocess.TimeoutExpired(PROGRAM, left)
        portion = os.read(stdout.fileno(), _READ_BYTES)
        if not portion:
            return said
        said += portion
    msg = f"dcgmi health said more than {_MOST_BYTES} bytes"
    raise DcgmError(msg)
