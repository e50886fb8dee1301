"""Tells a web page's request from a program's.

Nothing here checks a signature, and moto answers pages of every origin: any page open in a browser on this machine
could create a function and have it run. A browser names the page's origin (Fetch standard, "Origin header") wherever
it could change or read something, and a name that was bound to loopback afterwards stands in Host (DNS rebinding).
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_BROWSERS_SAY = ("HTTP_ORIGIN", "HTTP_SEC_FETCH_SITE")


def is_from_a_browser(environ: Mapping[str, Any]) -> bool:
    """Whether the request of this WSGI *environ* comes from a page, or for another name than loopback's."""
    host = urlsplit(f"//{environ.get('HTTP_HOST', '')}").hostname
    return any(name in environ for name in _BROWSERS_SAY) or not (host in _LOOPBACK or _is_virtual(host))


def _is_virtual(host: str | None) -> bool:
    """A bucket's own name, as S3 clients may put it before the endpoint's."""
    return host is not None and host.endswith(".localhost")
