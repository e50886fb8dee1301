"""How processes that are not our children ended: the kernel tells whoever may listen (the proc connector).

It needs the first pid and user namespace, before Linux 6.6 CAP_NET_ADMIN, and a kernel with CONFIG_PROC_EVENTS. A
filter in the kernel lets through nothing but the ends of whole processes, so a node that forks much costs nothing.
Where nobody may listen, `ListeningError` says why. It must not know who trains.

Sources: drivers/connector/cn_proc.c (proc_exit_connector: exit_code is what wait(2) would give), include/uapi/linux/
cn_proc.h and connector.h; networking/filter.rst for the filter.
"""

import ctypes
import errno
import os
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass

_NETLINK_CONNECTOR, _CN_IDX_PROC, _CN_VAL_PROC = 11, 1, 1
_LISTEN, _NLMSG_DONE = 1, 3
_NLMSG, _CN = struct.Struct("=IHHII"), struct.Struct("=IIIIHH")
_EVENT = _NLMSG.size + _CN.size  # what, cpu: u32; timestamp: u64; then what the event tells
_TOLD = _EVENT + 16
_EXIT = 0x80000000
_SO_ATTACH_FILTER, _SO_RCVBUFFORCE = 26, 33
_BUFFER_BYTES = 4 << 20
_ACK_SECONDS = 1.0
_MOST_AT_ONCE = 8192
_MESSAGE_BYTES = 512


class ListeningError(Exception):
    """Nobody here may hear how processes end; the text says why, and what would help."""


@dataclass(frozen=True, slots=True)
class Ended:
    """One process's end. ``status`` is wait(2)'s, ``at`` the order of ends: nanoseconds of an unnamed clock."""

    pid: int
    status: int
    at: int


class ExitListener:
    """Hears every process of the node end, from when it was made until it is closed."""

    def __init__(self) -> None:
        """Begin to listen; ListeningError where that is not possible."""
        try:
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, _NETLINK_CONNECTOR)
        except OSError as error:
            raise ListeningError(f"the kernel has no proc connector ({error.strerror})") from None
        try:
            self._begin()
        except OSError as error:
            self._socket.close()
            raise ListeningError(_why(error)) from None
        except ListeningError:
            self._socket.close()
            raise

    def _begin(self) -> None:
        self._socket.bind((0, _CN_IDX_PROC))
        with suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
        data = struct.pack("=I", _LISTEN)
        message = _CN.pack(_CN_IDX_PROC, _CN_VAL_PROC, 0, 0, len(data), 0) + data
        self._socket.send(_NLMSG.pack(_NLMSG.size + len(message), _NLMSG_DONE, 0, 0, os.getpid()) + message)
        if (error := self._acknowledged()) is None:
            raise ListeningError("the kernel does not answer: run in the host's pid namespace (hostPID)")
        if error:
            raise ListeningError(_why(OSError(error, os.strerror(error))))
        self._attach_filter()
        self._socket.settimeout(0)

    def _acknowledged(self) -> int | None:
        """Return what the kernel says to our wish, 0 for yes; None where it says nothing: not in this namespace.

        What others listen to comes here as well, and is no answer. The kernel answers within our asking: whoever comes
        back to it late, on a node that stood still, finds the answer waiting.
        """
        until = time.monotonic() + _ACK_SECONDS
        for _ in range(_MOST_AT_ONCE):
            self._socket.settimeout(max(0.0, until - time.monotonic()))
            try:
                message = self._socket.recv(_MESSAGE_BYTES)
            except (TimeoutError, BlockingIOError):
                return None
            if len(message) >= _TOLD + 4 and message[_EVENT : _EVENT + 4] == bytes(4):  # PROC_EVENT_NONE
                return int(struct.unpack_from("=I", message, _TOLD)[0])
        return None

    def _attach_filter(self) -> None:
        """Let through only exits (``what``) of first threads (pid equals tgid)."""
        what = int.from_bytes(struct.pack("=I", _EXIT), "big")  # a filter loads words as the network has them
        instructions = (
            (0x20, 0, 0, _EVENT),  # A = what
            (0x15, 0, 4, what),  # other than an exit: drop
            (0x20, 0, 0, _TOLD),  # A = pid
            (0x07, 0, 0, 0),  # X = A
            (0x20, 0, 0, _TOLD + 4),  # A = tgid
            (0x1D, 1, 0, 0),  # equal: keep
            (0x06, 0, 0, 0),  # drop
            (0x06, 0, 0, 0xFFFFFFFF),  # keep
        )
        code = b"".join(struct.pack("=HBBI", *one) for one in instructions)
        buffer = ctypes.create_string_buffer(code)
        program = struct.pack("HP", len(instructions), ctypes.addressof(buffer))
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)

    def drain(self) -> list[Ended]:
        """Return who ended since the last call; some may be missing when very many did."""
        found: list[Ended] = []
        for _ in range(_MOST_AT_ONCE):
            try:
                message = self._socket.recv(_MESSAGE_BYTES)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno != errno.ENOBUFS:  # some were lost
                    raise
                continue
            if ended := parse_ended(message):
                found.append(ended)
        return found

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()


def parse_ended(message: bytes) -> Ended | None:
    """Return the end of a process that *message* tells, None for anything else."""
    if len(message) < _TOLD + 16:
        return None
    what, _, at = struct.unpack_from("=IIQ", message, _EVENT)
    pid, tgid, status = struct.unpack_from("=III", message, _TOLD)
    return Ended(tgid, status, at) if what == _EXIT and pid == tgid else None


def _why(error: OSError) -> str:
    if error.errno == errno.EPERM:
        return "not permitted: give the agent CAP_NET_ADMIN, or run it as root"
    return f"the kernel refuses it ({error.strerror})"
