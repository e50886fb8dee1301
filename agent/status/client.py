"""Asks the status endpoint of an agent on this node.

Decides how long it waits. It must not know what is told.
"""

import http.client
import json
import socket
from typing import Any

from policies.contract.errors import DependencyError

_SECONDS = 10.0
_MOST_BYTES = 4 << 20


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_SECONDS)
        self.sock.connect(self._path)


def ask(path: str, page: str) -> str:
    """Return the text of *page* from the socket at *path*; DependencyError says why there is none."""
    connection = _UnixConnection(path)
    try:
        connection.request("GET", page)
        answer = connection.getresponse()
        text = answer.read(_MOST_BYTES).decode("utf-8", "replace")
    except PermissionError:
        raise DependencyError(
            f"{path} may not be opened.", hint="Run as root, or as a user of the agent's group."
        ) from None
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise DependencyError(
            f"no agent answers at {path} ({why}).", hint="See `systemctl status relight-agent`, or name its --socket."
        ) from None
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise DependencyError(f"the agent answers {answer.status}: {text.strip()[:200]}.", hint="Ask again.")
    return text


def status(path: str) -> dict[str, Any]:
    """Return what the agent at *path* says of itself."""
    told: dict[str, Any] = json.loads(ask(path, "/status"))
    return told
