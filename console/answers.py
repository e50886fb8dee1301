"""Whether it was AWS that answered, and whether what was asked may have been done though no answer came.

Decides by the id that AWS gives each request (Amazon S3, "Troubleshooting using request ids"; AWS SDKs, "Request ID"):
in a header, or in the document. What answers without one is a proxy, a page of a network that wants a sign-in, or
another program behind the endpoint that is set: nothing of it is believed, and nothing that was sent there counts as
done. It must not know a command, or retry.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from botocore.exceptions import (
    BotoCoreError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ProxyConnectionError,
    SSLError,
)
from botocore.parsers import ResponseParserError

_IDS = ("x-amzn-requestid", "x-amz-request-id", "x-amz-id-2")
_BROKEN, _REDIRECTS = 500, range(300, 400)
_LONGEST = 200
_CANNOT_BE_READ = (ResponseParserError, LookupError, ValueError, TypeError, AttributeError)
_NEVER_SENT: tuple[type[Exception], ...] = (
    ConnectTimeoutError,
    EndpointConnectionError,
    ProxyConnectionError,
    SSLError,
)
# Whoever only looks, or signs in, changes nothing.
_LOOKS = ("Get", "List", "Describe", "Query", "Scan", "BatchGet", "Head", "Receive", "Lookup", "Assume", "CreateToken")
_ADDRESS, _LOST = "relight_address", "relight_lost"  # in the context of a call, which is ours to keep things in


class NotAwsError(BotoCoreError):
    """Something that is not AWS answered."""

    fmt = "something that is not AWS answered at {address} ({what})"


class AnswerLostError(BotoCoreError):
    """A write was sent, and no answer came."""

    fmt = "{operation} was sent to {address} and no answer came ({kind}): whether it was written is unknown"


class _StrangeError(Exception):
    """What answered is not AWS; who knows the address says so."""


class Events(Protocol):
    """What botocore tells of, of all clients of a session."""

    def register(self, event_name: str, handler: Callable[..., None]) -> None:
        """Call *handler* at each event whose name begins so."""
        ...

    def register_first(self, event_name: str, handler: Callable[..., None]) -> None:
        """Call *handler* before others."""
        ...


def listen(events: Events) -> None:
    """Have every client behind *events* believe AWS only: its calls raise NotAwsError and AnswerLostError besides."""
    events.register("before-call", _begins)
    events.register("before-parse", _comes)
    events.register("response-received", _is_heard)
    events.register("after-call", _is_over)
    events.register("after-call-error", _fails)


def is_from_aws(headers: Mapping[str, str], body: object) -> bool:
    """Whether an answer names the request that it answers; *body* is bytes, or a stream that is not looked into."""
    if any(name.lower() in _IDS and value for name, value in headers.items()):
        return True
    return isinstance(body, bytes) and b"requestid>" in body.lower()  # XML of older services: EC2, CloudFormation, SQS


def changes(operation: str) -> bool:
    """Whether an operation of this name writes, as far as names tell."""
    return not operation.startswith(_LOOKS)


def _begins(params: Mapping[str, Any], context: dict[str, Any], **_more: object) -> None:
    address = str(params.get("url", "")).partition("?")[0]
    context[_ADDRESS] = address.removesuffix("/")[:_LONGEST]


def _comes(response_dict: Mapping[str, Any], **_more: object) -> None:
    """Stop before what is none of AWS's is read; a broken gateway is asked again first, as botocore does."""
    status, headers, body = (response_dict[name] for name in ("status_code", "headers", "body"))
    if status < _BROKEN and not is_from_aws(headers, body):
        if not isinstance(body, bytes):  # of an object or a function, which nobody will read
            body.close()
        raise _StrangeError(_seen(status, headers))


def _is_heard(exception: Exception | None, context: dict[str, Any], **_more: object) -> None:
    """Keep that one of the tries may have been carried out: each of them may be the one."""
    if isinstance(exception, HTTPClientError) and not isinstance(exception, _NEVER_SENT):
        context[_LOST] = type(exception).__name__


def _is_over(
    http_response: Any,  # noqa: ANN401 - of botocore, or of whoever stands in for it
    parsed: Mapping[str, Any],
    context: Mapping[str, Any],
    **_more: object,
) -> None:
    status = http_response.status_code
    if status < _BROKEN or parsed.get("ResponseMetadata", {}).get("RequestId"):
        return
    if not is_from_aws(http_response.headers, http_response.content):
        raise NotAwsError(address=context.get(_ADDRESS, ""), what=_seen(status, http_response.headers))


def _fails(exception: Exception, context: Mapping[str, Any], event_name: str, **_more: object) -> None:
    address = context.get(_ADDRESS, "")
    if isinstance(exception, _StrangeError):
        raise NotAwsError(address=address, what=str(exception)) from None
    if isinstance(exception, _CANNOT_BE_READ):
        raise NotAwsError(address=address, what="an answer that cannot be read") from exception
    operation = event_name.rpartition(".")[2]
    if context.get(_LOST) and changes(operation):
        raise AnswerLostError(operation=operation, address=address, kind=context[_LOST]) from exception


def _seen(status: int, headers: Mapping[str, str]) -> str:
    named = {name.lower(): value for name, value in headers.items()}
    to = f" to {named.get('location', 'nowhere')[:_LONGEST]}" if status in _REDIRECTS else ""
    kind = named.get("content-type", "")[:_LONGEST]
    return f"{status}{to}{f', {kind}' if kind else ''}, and no request id"
