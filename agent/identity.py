"""Who this node is: from the settings, and for what they leave open from the instance's metadata (IMDSv2).

The driver's version is that of now; it may change while the agent runs, and envelopes say the one of then.

Decides the order and the deadlines. It must not know what the identity is used for.

Source: EC2 user guide, "Use the Instance Metadata Service to access instance metadata" (token by PUT, then GET).
"""

import http.client
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agent.driver import LoadedDriver, version_file
from agent.settings import Settings
from policies.contract.envelope import NodeIdentity
from policies.contract.errors import DependencyError, SettingsError

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_DEADLINE_SECONDS = 1.0
_TRIES = 3
_SECONDS_VALID = "60"
_MOST_BYTES = 64 * 1024  # a list of scheduled events is the longest that is asked for

Metadata = Callable[[str], str]
"""Path below /latest/meta-data/ -> its text; DependencyError when the service does not answer."""


def identify(settings: Settings, metadata: Metadata) -> NodeIdentity:
    """Return this node's identity; SettingsError when nobody can say the instance id."""
    try:
        instance_id = settings.instance_id or metadata("instance-id")
    except DependencyError as error:
        msg = f"nobody says which instance this is ({error.message})"
        raise SettingsError(
            msg, hint="On a machine that is not an EC2 instance set RELIGHT_AGENT_INSTANCE_ID."
        ) from error
    return NodeIdentity(
        cluster=settings.cluster,
        name=settings.node_name or socket.gethostname(),
        instance_id=instance_id,
        instance_type=settings.instance_type or _or_empty(settings, metadata, "instance-type"),
        availability_zone=settings.availability_zone or _or_empty(settings, metadata, "placement/availability-zone"),
        boot_id=settings.boot_id or read_boot_id(),
        driver_version=LoadedDriver(settings.driver_version, version_file(settings.procfs)).version(),
    )


def _or_empty(settings: Settings, metadata: Metadata, path: str) -> str:
    """What only informs is asked only where the metadata service answered before; it never stops the agent."""
    if settings.instance_id:
        return ""
    try:
        return metadata(path)
    except DependencyError:
        return ""


def read_boot_id(path: Path = BOOT_ID) -> str:
    """Return the kernel's name for this boot."""
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        msg = f"the boot id cannot be read from {path} ({error.strerror})."
        raise SettingsError(msg, hint="Set RELIGHT_AGENT_BOOT_ID to a name of this boot.") from None


class NotToldError(http.client.HTTPException):
    """The service answers, and has nothing at this path."""


class _Hurried(socket.socket):
    """Receives until a moment, however slowly it comes: a timeout alone begins anew with each byte."""

    until = 0.0

    def recv_into(self, *arguments: Any) -> int:  # noqa: ANN401 - as the socket does
        """See `socket.socket.recv_into`; TimeoutError after the moment."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("it answers too slowly")
        self.settimeout(left)
        return super().recv_into(*arguments)


class _Connection(http.client.HTTPConnection):
    def connect(self) -> None:
        """Connect; what is received has to be received within the deadline."""
        until = time.monotonic() + _DEADLINE_SECONDS
        super().connect()
        self.sock = hurried = _Hurried(fileno=self.sock.detach())
        hurried.settimeout(_DEADLINE_SECONDS)
        hurried.until = until


class InstanceMetadata:
    """The instance metadata service, version 2, at *endpoint*. Each try has a deadline of one second an answer."""

    def __init__(self, endpoint: str) -> None:
        """Ask at *endpoint*, for example http://169.254.169.254."""
        parts = urlsplit(endpoint)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._token = ""

    def __call__(self, path: str) -> str:
        """Return the text at *path*; DependencyError after three tries."""
        text = self.find(path)
        if text is None:
            raise self._silent(path, "HTTP 404")
        return text

    def find(self, path: str) -> str | None:
        """Return the text at *path*, or None when the service says that there is none; DependencyError as above."""
        problem = ""
        for _ in range(_TRIES):
            try:
                return self._ask(path)
            except NotToldError:
                return None
            except (OSError, http.client.HTTPException, ValueError) as error:  # the last: a token that is none
                problem = str(error) or type(error).__name__
                self._token = ""  # it may have expired: HTTP 401
        raise self._silent(path, problem)

    def _silent(self, path: str, problem: str) -> DependencyError:
        msg = f"the instance metadata service at {self._host} does not tell {path}: {problem}"
        return DependencyError(msg, hint="Allow IMDSv2 with a hop limit of 2 for containers.")

    def _ask(self, path: str) -> str:
        if not self._token:
            ttl = {"X-aws-ec2-metadata-token-ttl-seconds": _SECONDS_VALID}
            self._token = self._request("PUT", "/latest/api/token", ttl)
        return self._request("GET", f"/latest/meta-data/{path}", {"X-aws-ec2-metadata-token": self._token})

    def _request(self, method: str, path: str, headers: dict[str, str]) -> str:
        connection = _Connection(self._host, self._port, timeout=_DEADLINE_SECONDS)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            raw = answer.read(_MOST_BYTES + 1)
        finally:
            connection.close()
        if answer.status == http.client.NOT_FOUND and method == "GET":
            raise NotToldError
        if answer.status != http.client.OK:
            msg = f"HTTP {answer.status}"
            raise http.client.HTTPException(msg)
        if len(raw) > _MOST_BYTES:
            raise http.client.HTTPException(f"more than {_MOST_BYTES} bytes")
        return raw.decode("utf-8", "replace").strip()
