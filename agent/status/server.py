"""The status endpoint: a unix socket, and on request a TCP port; at most a few answers at a time.

A socket that is left from an agent that died is replaced; one on which somebody answers is not. Decides who may connect
(mode 0660: root and the agent's group). It must not know what is told.
"""

import logging
import os
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agent.status.http import Answer, Page, serve_one

log = logging.getLogger(__name__)

_AT_ONCE = 4
_BACKLOG = 8
_LISTEN_SECONDS = 0.5  # bounds how late a stop is heard


def listen_unix(path: Path) -> socket.socket:
    """Return a listening socket at *path*; OSError when it cannot be, or somebody else answers there."""
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    if path.is_socket():
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
            other.settimeout(1.0)
            try:
                other.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()
            else:
                raise OSError(98, "another agent answers there", str(path))
    elif path.exists():
        raise FileExistsError(17, "there is something else than a socket", str(path))
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # The mode is there before anybody can connect: until listen(2), connecting is refused.
        listening.bind(str(path))
        path.chmod(0o660)
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def listen_tcp(address: str) -> socket.socket:
    """Return a listening socket at *address*, ``host:port``; OSError when it cannot be."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, int(port)), family=family, backlog=_BACKLOG)


class StatusServer:
    """One thread's work: `run` until told to stop."""

    def __init__(self, listening: socket.socket, pages: Mapping[str, Page]) -> None:
        """Answer on *listening* with *pages*, by path."""
        self._listening = listening
        self._pages = pages
        self._free = threading.Semaphore(_AT_ONCE)

    def run(self, stop: threading.Event) -> None:
        """Answer until *stop*."""
        self._listening.settimeout(_LISTEN_SECONDS)
        while not stop.is_set():
            try:
                connection, _ = self._listening.accept()
            except TimeoutError:
                continue
            if self._free.acquire(blocking=False):
                threading.Thread(target=self._serve, args=(connection,), name="status", daemon=True).start()
            else:
                _refuse(connection)

    def close(self) -> None:
        """Let go of the socket, and of its name."""
        name = self._listening.getsockname()
        self._listening.close()
        if isinstance(name, str) and name:
            with suppress(OSError):
                os.unlink(name)  # noqa: PTH108 - a name of the kernel's

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, suppress(OSError):
                serve_one(connection, self._pages)
        finally:
            self._free.release()


def _refuse(connection: socket.socket) -> None:
    with connection, suppress(OSError):
        serve_one(connection, _Busy(), seconds=0.1)


class _Busy(dict[str, Page]):
    """Every page says that others are being answered."""

    def get(self, _key: str, _default: Page | None = None) -> Page:  # type: ignore[override]
        return lambda: Answer(503, "too many ask at a time\n")
