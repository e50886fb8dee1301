"""Requests find their backend without a walk through moto's own folders.

moto lists its package directory (170 `stat` calls) and tries up to 500 patterns for each request, and collects the
method names of the response class anew: more than half of the time of a SendMessage.
"""

import functools
from typing import Any

from moto import backends
from moto.core import responses
from moto.core.utils import method_names_from_class
from moto.moto_server.werkzeug_app import DomainDispatcherApplication

from local.aws.patches.replacing import replace


def apply() -> None:
    """Remember what never changes while the process runs."""
    modules = tuple(backends.list_of_moto_modules())
    replace(backends, "list_of_moto_modules", lambda: modules)
    replace(responses, "method_names_from_class", functools.cache(method_names_from_class))
    find = DomainDispatcherApplication.get_backend_for_host
    known: dict[str | None, Any] = {}

    def backend_for_host(self: Any, host: str | None) -> Any:
        if host not in known:
            known[host] = find(self, host)
        return known[host]

    replace(DomainDispatcherApplication, "get_backend_for_host", backend_for_host)
