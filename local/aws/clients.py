"""boto3 clients for the embedded AWS: one for each service and principal, made one at a time.

Making clients is not thread-safe in boto3 (using them is); its default session is the developer's and stays untouched.
"""

import os
import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import boto3
from botocore.config import Config
from botocore.session import Session

from local.aws import principals

_CONNECTIONS = 100
# name -> (setting, variable of the environment, default, conversion): neither a profile nor a file of theirs is read.
_NOTHING_OF_THE_DEVELOPERS = {
    "profile": (None, None, None, None),
    "config_file": (None, None, os.devnull, None),
    "credentials_file": (None, None, os.devnull, None),
}


class Clients:
    """Clients of one endpoint."""

    def __init__(self, endpoint: str, region: str, options: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Keep what every client gets: `options` go into its botocore Config."""
        self._endpoint = endpoint
        self._region = region
        self._options = options
        self._lock = threading.Lock()
        self._session = boto3.Session(region_name=region, botocore_session=Session(dict(_NOTHING_OF_THE_DEVELOPERS)))
        self._clients: dict[tuple[str, str], Any] = {}

    def get(self, service: str, principal: str) -> Any:
        """The client of a principal, the same one each time."""
        with self._lock:
            key = (service, principal)
            if key not in self._clients:
                self._clients[key] = self._make(service, principal)
            return self._clients[key]

    def _make(self, service: str, principal: str) -> Any:
        return self._session.client(
            service,  # type: ignore[call-overload]  # its overloads want a literal
            endpoint_url=self._endpoint,
            region_name=self._region,
            aws_access_key_id=principals.access_key(principal),
            aws_secret_access_key="not-checked",  # noqa: S106 - nothing here checks a signature
            config=Config(max_pool_connections=_CONNECTIONS, proxies={}, **self._options),
        )

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            for client in self._clients.values():
                client.close()
            self._clients.clear()
