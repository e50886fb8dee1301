"""The servers of the status endpoint. One that cannot listen is said once, and the agent works without.

Decides only that. It must not know what is told.
"""

import logging
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from agent.status.http import Page
from agent.status.pages import local_pages, public_pages
from agent.status.report import Reporter
from agent.status.server import StatusServer, listen_tcp, listen_unix

log = logging.getLogger(__name__)

_END_SECONDS = 2.0


class StatusServers:
    """Used by one thread."""

    def __init__(self, reporter: Reporter) -> None:
        """Show what *reporter* says."""
        self._reporter = reporter
        self._servers: list[tuple[StatusServer, threading.Thread]] = []

    def begin(self, unix: str, tcp: str, stop: threading.Event) -> None:
        """Listen at the path *unix* and the address *tcp*, where they are not empty, until *stop*."""
        if unix:
            self._serve(unix, lambda: listen_unix(Path(unix)), local_pages(self._reporter), stop)
        if tcp:
            self._serve(tcp, lambda: listen_tcp(tcp), public_pages(self._reporter), stop)

    def end(self) -> None:
        """Let go of the sockets, and of their names: behind the *stop* that `begin` was given."""
        for server, thread in self._servers:
            thread.join(_END_SECONDS)
            server.close()
        self._servers = []

    def _serve(
        self, where: str, listen: Callable[[], socket.socket], pages: Mapping[str, Page], stop: threading.Event
    ) -> None:
        try:
            server = StatusServer(listen(), pages)
        except OSError as error:
            log.warning("no status endpoint", extra={"at": where, "why": error.strerror or str(error)})
            return
        thread = threading.Thread(target=server.run, args=(stop,), name="status", daemon=True)
        thread.start()
        self._servers.append((server, thread))
