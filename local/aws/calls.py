"""Which AWS operation an HTTP request is, and who makes it. Read from the wire, before moto sees the request."""

import io
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs

from moto.core.request import Request
from moto.core.routing import get_service_router
from werkzeug.exceptions import NotFound

from local.aws import principals

# The name a request is signed for → the name IAM knows the service by, where the two differ.
_IAM_PREFIX = {"monitoring": "cloudwatch"}
# Services that name their operation only by method and path.
_ROUTED = {"s3": "s3", "lambda": "lambda", "eks": "eks"}


@dataclass(frozen=True)
class Call:
    """One request: `service` is the IAM prefix (`dynamodb`), `operation` the API's name (`PutItem`).

    `session` is the instance whose credentials of the role these are, or empty.
    """

    principal: str
    service: str
    operation: str
    region: str
    path: str
    query: str
    body: bytes
    session: str = ""

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a JSON or form body; empty where there are none or they are not readable."""
        text = self.body.decode("utf-8", "replace")
        if text.startswith("{"):
            try:
                parsed = json.loads(text)
            except ValueError:
                return {}
            return parsed if isinstance(parsed, dict) else {}
        return {key: values[0] for key, values in parse_qs(text or self.query).items()}


def read_call(environ: dict[str, Any], body: bytes) -> Call | None:
    """The call in a request; None for one that is no AWS call (unsigned, or unknown to botocore)."""
    query = environ.get("QUERY_STRING", "")
    scope = principals.credential_scope(environ.get("HTTP_AUTHORIZATION", "") or query)
    if scope is None:
        return None
    signed_by, region, service = scope
    principal, session = principals.split_session(signed_by)
    operation = _operation(service, environ, body, query)
    if operation is None:
        return None
    name = _IAM_PREFIX.get(service, service)
    return Call(principal, name, operation, region, environ.get("PATH_INFO", ""), query, body, session)


def _operation(service: str, environ: dict[str, Any], body: bytes, query: str) -> str | None:
    target = environ.get("HTTP_X_AMZ_TARGET")
    if target:
        return str(target).rpartition(".")[2]
    path = environ.get("PATH_INFO", "")
    if "/operation/" in path:  # Smithy RPC v2: /service/{name}/operation/{operation}
        return str(path).rpartition("/")[2]
    if service in _ROUTED:
        return _routed_operation(_ROUTED[service], environ)
    action = parse_qs(body.decode("utf-8", "replace") or query).get("Action")
    return action[0] if action else None


def _routed_operation(service: str, environ: dict[str, Any]) -> str | None:
    request = Request({**environ, "wsgi.input": io.BytesIO()})
    try:
        operation, _ = get_service_router(service).match(request)
    except (NotFound, RuntimeError):
        return None
    return str(operation.name)
