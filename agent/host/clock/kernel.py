"""What the kernel, and chrony where it runs, say about the wall clock.

A reader. It must not know what is too much.

Sources: adjtimex(2); chrony's manual of chronyc (`-c`: comma-separated, in the order of the report on tracking).
"""

import ctypes
import shutil
from dataclasses import dataclass

from agent.programs import run

_CHRONYC_SECONDS = 2.0
_OFFSET_FIELD, _LEAP_FIELD = -10, -1  # counted from the end: what names the server stands before


class _Timex(ctypes.Structure):
    """struct timex of 64-bit Linux (include/uapi/linux/timex.h), with room for what is not read."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 256),
    )


@dataclass(frozen=True, slots=True)
class Discipline:
    """How far the clock may be from the true time, by whoever sets it: at most, and probably. Seconds."""

    max_error: float
    estimated_error: float


@dataclass(frozen=True, slots=True)
class Tracking:
    """What chrony measured: seconds by which the clock is off, and whether it follows a server at all."""

    offset: float
    synchronised: bool


def read_discipline() -> Discipline:
    """Return what the kernel was told; PermissionError where a container's filter forbids to ask."""
    timex = _Timex(modes=0)  # 0: only read, which needs no right
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.adjtimex(ctypes.byref(timex)) < 0:
        raise OSError(ctypes.get_errno(), "adjtimex")
    return Discipline(timex.maxerror / 1e6, timex.esterror / 1e6)


def read_tracking() -> Tracking | None:
    """Return what chrony says; None where it is not installed, does not run or does not answer."""
    program = shutil.which("chronyc")
    if program is None:
        return None
    said = run([program, "-n", "-c", "tracking"], _CHRONYC_SECONDS, errors=False)
    return parse_tracking(said.output) if said.ok else None


# A9FEA97B,169.254.169.123,4,1700000000.123456789,0.000001234,-0.000002345,0.000003456,-12.345,-0.001,0.012,
# 0.000234567,0.000123456,16.2,Normal                                                            (one line)
def parse_tracking(text: str) -> Tracking | None:
    """Return what a line of `chronyc -c tracking` says; None when it is none."""
    fields = text.strip().split(",")
    try:
        return Tracking(float(fields[_OFFSET_FIELD]), fields[_LEAP_FIELD] != "Not synchronised")
    except (ValueError, IndexError):
        return None
