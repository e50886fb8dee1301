"""One Lambda worker: imports the handler once, then answers requests one after the other, as a warm container does.

It runs in a process forked from the zygote. It decides nothing: deadlines and retries are the server's.
"""

import importlib
import json
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from local.aws.workers import wire

Handler = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Context:
    """The context object of a Python Lambda (AWS Lambda developer guide, "Using the Lambda context object")."""

    aws_request_id: str
    function_name: str
    invoked_function_arn: str
    memory_limit_in_mb: str
    log_group_name: str
    deadline: float
    function_version: str = "$LATEST"
    log_stream_name: str = "local"
    identity: None = None
    client_context: None = None

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.deadline - time.time()) * 1000))


def serve(channel: socket.socket, handler_name: str) -> None:
    """Import the handler, say so, and answer until the channel ends.

    When the import fails, its error answers the first request and the worker ends: the next request gets a new one.
    """
    handler, broken = _init(handler_name)
    sys.stdout.flush()
    wire.send(channel, {"ready": True})
    while (frame := wire.receive(channel)) is not None:
        header, body, _ = frame
        if handler is None:
            wire.send(channel, {"failed": True, "ended": True}, broken)
            return
        print(f"START RequestId: {header['request_id']}")  # noqa: T201 - the log line Lambda writes itself
        started = time.monotonic()
        answer, failed = _call(handler, header, body)
        milliseconds = (time.monotonic() - started) * 1000
        print(f"END RequestId: {header['request_id']} Duration: {milliseconds:.1f} ms")  # noqa: T201 - as above
        sys.stdout.flush()
        sys.stderr.flush()
        wire.send(channel, {"failed": failed, "ended": False}, answer)


def _init(handler_name: str) -> tuple[Handler | None, bytes]:
    """The handler, or None and the payload of why there is none."""
    try:
        return load(handler_name), b""
    except ImportError as error:
        traceback.print_exc()
        text = f"Unable to import module '{handler_name.rpartition('.')[0]}': {error}"
        return None, json.dumps({"errorMessage": text, "errorType": "Runtime.ImportModuleError"}).encode()
    except BaseException as error:  # noqa: BLE001 - whatever a module raises is an answer
        traceback.print_exc()
        return None, error_payload(error)


def load(handler_name: str) -> Handler:
    """The handler behind `package/module.function` or `package.module.function`."""
    module_name, _, function = handler_name.rpartition(".")
    handler: Handler = getattr(importlib.import_module(module_name.replace("/", ".")), function)
    return handler


def _call(handler: Handler, header: wire.Header, body: bytes) -> tuple[bytes, bool]:
    """The payload, and whether it tells of an error."""
    context = Context(
        aws_request_id=header["request_id"],
        function_name=header["function_name"],
        invoked_function_arn=header["function_arn"],
        memory_limit_in_mb=header["memory"],
        log_group_name=header["log_group"],
        deadline=header["deadline"],
    )
    try:
        answer = handler(json.loads(body or b"{}"), context)
        return json.dumps(answer, separators=(",", ":")).encode(), False
    except BaseException as error:  # noqa: BLE001 - whatever a handler raises is an answer
        traceback.print_exc()
        return error_payload(error), True


def error_payload(error: BaseException) -> bytes:
    """The payload of a failed invocation, shaped as the Python runtime shapes it."""
    frames = traceback.format_list(traceback.extract_tb(error.__traceback__)[1:])
    payload = {"errorMessage": str(error), "errorType": type(error).__name__, "stackTrace": frames}
    return json.dumps(payload).encode()
