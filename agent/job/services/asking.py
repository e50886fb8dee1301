"""Whether a service of this node answers: a gRPC server on a unix socket, an HTTP server on a port.

Every answer has a deadline for all of it, however slowly it comes. For gRPC the beginning of any HTTP/2 connection is
enough (its SETTINGS frame): no call is made, so nothing is asked of the service and nothing logged. It must not know
which service it is.

Sources: RFC 9113, 3.4 (the preface, both sides begin with SETTINGS), 4.1 (frames), 6.8 (GOAWAY).
"""

import socket
import time
from collections.abc import Callable
from enum import StrEnum
from urllib.parse import urlsplit

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_SETTINGS = b"\0\0\0\x04\0\0\0\0\0"
_GOAWAY = b"\0\0\x08\x07\0\0\0\0\0" + bytes(8)
_FRAME_HEADER, _SETTINGS_TYPE = 9, 4
_MOST_BYTES = 64 * 1024
_OK = (b"200",)


class Answer(StrEnum):
    """What came of asking."""

    WELL = "well"
    UNWELL = "unwell"  # it answers that it is not, or in another language
    SILENT = "silent"  # nothing within the deadline
    REFUSED = "refused"  # nobody listens
    ABSENT = "absent"  # there is no such socket
    BARRED = "barred"  # this process may not ask


def ask_grpc(path: str, deadline: float) -> Answer:
    """Return whether a gRPC server answers at the unix socket *path* within *deadline* seconds."""

    def begin(until: float) -> socket.socket:
        one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        one.settimeout(max(0.001, until - time.monotonic()))
        try:
            one.connect(path)
        except OSError:
            one.close()
            raise
        return one

    def talk(one: socket.socket, until: float) -> Answer:
        one.sendall(_PREFACE + _SETTINGS)
        header = _receive(one, until, lambda data: len(data) >= _FRAME_HEADER)[:_FRAME_HEADER]
        is_settings = len(header) == _FRAME_HEADER and header[3] == _SETTINGS_TYPE and header[5:] == bytes(4)
        if is_settings:
            one.sendall(_GOAWAY)
        return Answer.WELL if is_settings else Answer.UNWELL

    return _ask(begin, talk, deadline)


def ask_http(url: str, deadline: float) -> Answer:
    """Return whether *url* (http, no user) answers with 200 within *deadline* seconds."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 80

    def begin(until: float) -> socket.socket:
        return socket.create_connection((host, port), timeout=max(0.001, until - time.monotonic()))

    def talk(one: socket.socket, until: float) -> Answer:
        request = f"GET {parts.path or '/'} HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n"
        one.sendall(request.encode("ascii", "replace"))
        line = _receive(one, until, lambda data: b"\n" in data).split(b"\n")[0].split()
        is_ok = len(line) > 1 and line[0].startswith(b"HTTP/1.") and line[1] in _OK
        return Answer.WELL if is_ok else Answer.UNWELL

    return _ask(begin, talk, deadline)


def _ask(
    begin: Callable[[float], socket.socket], talk: Callable[[socket.socket, float], Answer], deadline: float
) -> Answer:
    until = time.monotonic() + deadline
    try:
        with begin(until) as one:
            return talk(one, until)
    except (TimeoutError, BlockingIOError):  # the latter: a unix socket whose queue is full
        return Answer.SILENT
    except FileNotFoundError:
        return Answer.ABSENT
    except PermissionError:
        return Answer.BARRED
    except ConnectionRefusedError:
        return Answer.REFUSED
    except OSError:
        return Answer.UNWELL


def _receive(one: socket.socket, until: float, is_enough: Callable[[bytes], bool]) -> bytes:
    """Return what came until it *is_enough*, or the other end closed; TimeoutError at *until*."""
    data = b""
    while not is_enough(data) and len(data) < _MOST_BYTES:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        one.settimeout(left)
        more = one.recv(4096)
        if not more:
            break
        data += more
    return data
