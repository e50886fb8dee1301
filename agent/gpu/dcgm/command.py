"""Runs `dcgmi health`, which asks DCGM's daemon, with a deadline and a limit on what it may say.

Decides when DCGM is not there for us: not installed, not running, no watch switched on (we switch none on: they are
somebody else's). It must not know what a report says.
"""

import shutil

from agent.polls.reading import NotHereError
from agent.programs import KEPT_BYTES, run

PROGRAM = "dcgmi"
_ARGUMENTS = ("health", "-g", "0", "-c", "-j")  # group 0 is all GPUs
_DEADLINE_SECONDS = 20.0
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
    said = run([path, *_ARGUMENTS], deadline)
    if _NO_DAEMON in said.output:
        msg = "DCGM is installed and does not run (nv-hostengine)"
        raise NotHereError(msg)
    if _NO_WATCH in said.output:
        msg = "DCGM's health watches are off; `dcgmi health -g 0 -s a` switches them on"
        raise NotHereError(msg)
    if said.cut:
        msg = f"dcgmi health said more than {KEPT_BYTES} bytes"
        raise DcgmError(msg)
    if not said.ok:
        msg = f"dcgmi health: {said}"
        raise DcgmError(msg)
    return said.output
