"""Who is at the other end of a connection on this machine, and its end: how a test lets a caller die in mid-call.

Works for any caller (a Lambda worker, an agent), since it asks the kernel and not the request. Only a descendant of
the process that runs the whole test is ever killed. Linux only. It must not know what a call means.

Source: proc(5), /proc/net/tcp (local and remote address in hexadecimal, inode of the socket) and /proc/PID/fd.
"""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_LOCAL, _REMOTE, _INODE = 1, 2, 9  # columns of /proc/net/tcp


class NoSuchPeerError(LookupError):
    """Nobody who may be killed holds the other end."""


def kill_peer(port: int, own_port: int, *, ancestor: int) -> int:
    """SIGKILL the process that is connected from *port* to our *own_port*; return its id.

    Raises:
        NoSuchPeerError: it is gone, or it is no descendant of *ancestor*, or it is this process.
    """
    pid = _holder(_inode(port, own_port))
    if pid == os.getpid() or ancestor not in _ancestors(pid):
        raise NoSuchPeerError(f"process {pid} at port {port} is not one that a test may kill")
    os.kill(pid, signal.SIGKILL)
    return pid


def _inode(port: int, own_port: int) -> str:
    wanted = (f"{port:04X}", f"{own_port:04X}")
    for line in (_PROC / "net/tcp").read_text().splitlines()[1:]:
        columns = line.split()
        if (columns[_LOCAL].rpartition(":")[2], columns[_REMOTE].rpartition(":")[2]) == wanted:
            return columns[_INODE]
    raise NoSuchPeerError(f"nobody is connected from port {port} any more")


def _holder(inode: str) -> int:
    socket = f"socket:[{inode}]"
    for process in list(_PROC.iterdir()):
        if not process.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it ended, or is another user's
            if any(str(entry.readlink()) == socket for entry in list((process / "fd").iterdir())):
                return int(process.name)
    raise NoSuchPeerError(f"no process holds {socket}")


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        with contextlib.suppress(OSError):
            pid = int((_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
            yield pid
            continue
        return
