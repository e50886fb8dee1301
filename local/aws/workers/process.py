"""What must die with its parent does: the one piece of Linux that the zygote and its workers share."""

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1  # include/uapi/linux/prctl.h


def die_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when the thread that made it ends; exit if that has already happened."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
