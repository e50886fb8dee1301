"""Tells systemd that the agent is ready and goes on: a few datagrams, where systemd asks for them.

Decides nothing: who calls `alive` does. It must not know the agent.

Source: sd_notify(3), sd_watchdog_enabled(3): NOTIFY_SOCKET (a leading @ is an abstract socket), WATCHDOG_USEC,
WATCHDOG_PID.
"""

import logging
import os
import socket
import time
from collections.abc import Mapping

log = logging.getLogger(__name__)


class Systemd:
    """Says nothing where nobody asked for it."""

    def __init__(self, environ: Mapping[str, str], pid: int | None = None) -> None:
        """Read from *environ* whom to tell; *pid* is this process's."""
        self._address = environ.get("NOTIFY_SOCKET", "")
        if self._address.startswith("@"):
            self._address = "\0" + self._address[1:]
        ours = environ.get("WATCHDOG_PID") in {None, "", str(os.getpid() if pid is None else pid)}
        microseconds = environ.get("WATCHDOG_USEC", "")
        self.watchdog_seconds = int(microseconds) / 1e6 if ours and microseconds.isdigit() else 0.0

    def ready(self) -> None:
        """Say that the agent watches."""
        self._send("READY=1")

    def alive(self, status: str = "") -> None:
        """Say that it goes on, and in a line how it is."""
        self._send("WATCHDOG=1" if self.watchdog_seconds else "", f"STATUS={status}" if status else "")

    def reloading(self) -> None:
        """Say that settings are read again; `ready` says that it is done."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def stopping(self) -> None:
        """Say that it ends."""
        self._send("STOPPING=1")

    def _send(self, *lines: str) -> None:
        said = "\n".join(filter(None, lines))
        if not self._address or not said:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out:
                out.settimeout(1.0)
                out.connect(self._address)
                out.send(said.encode())
        except OSError as error:
            log.debug("systemd does not listen", extra={"error": str(error)})
