"""Errors as each service words them on the wire, for those that moto does not raise itself."""

import functools
import json
from collections.abc import Callable, Iterable
from typing import Any
from xml.sax.saxutils import escape

import botocore.session
from botocore.model import ServiceModel

_STATUS = {
    "InternalServerError": 500,
    "InternalFailure": 500,
    "InternalError": 500,
    "ServiceUnavailable": 503,
    "ServiceUnavailableException": 503,
    "KMSThrottlingException": 400,
    "SlowDown": 503,
}
_REASONS = {400: "Bad Request", 500: "Internal Server Error", 503: "Service Unavailable"}
# IAM prefix → name of botocore's model, where the two differ.
_MODEL_NAMES = {"states": "stepfunctions"}


def respond(service: str, code: str, message: str, start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer a call to `service` (its IAM prefix) with an error."""
    status = _STATUS.get(code, 400)
    kind, body = _body(_protocol(service), code, message)
    headers = [("x-amzn-errortype", code), ("x-amzn-RequestId", "relight"), ("Content-Type", kind)]
    start_response(f"{status} {_REASONS[status]}", headers)
    return [body]


@functools.cache
def _protocol(service: str) -> str:
    session = botocore.session.get_session()
    model: ServiceModel = session.get_service_model(_MODEL_NAMES.get(service, service))
    return str(model.protocol)


def _body(protocol: str, code: str, message: str) -> tuple[str, bytes]:
    text = escape(message)
    if protocol == "ec2":
        inner = f"<Errors><Error><Code>{code}</Code><Message>{text}</Message></Error></Errors>"
        return "text/xml", f"<Response>{inner}<RequestID>relight</RequestID></Response>".encode()
    error = f"<Error><Type>Sender</Type><Code>{code}</Code><Message>{text}</Message></Error>"
    if protocol == "query":
        body = f"<ErrorResponse>{error}<RequestId>relight</RequestId></ErrorResponse>"
        return "text/xml", body.encode()
    if protocol == "rest-xml":
        return "application/xml", error.encode()
    return "application/json", json.dumps({"__type": code, "message": message, "Message": message}).encode()
