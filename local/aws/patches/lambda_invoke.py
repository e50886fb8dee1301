"""Invoke runs our workers.

moto runs a function in a Docker container a call, answers every invocation type alike, and reports errors as
`Handled`. There is no Docker here; Lambda answers `Event` at once with 202, and calls every Python error `Unhandled`.
"""

from typing import Any

from moto.awslambda.models import LambdaFunction

from local.aws.lambdas.asynchronous import AsyncInvoker
from local.aws.lambdas.runtime import LambdaRuntime
from local.aws.patches.replacing import replace


def apply(runtime: LambdaRuntime, asynchronous: AsyncInvoker) -> None:
    """Route all of moto's ways to invoke a function through the runtime."""

    def invoke(self: Any, body: Any, request_headers: Any, response_headers: Any) -> bytes:
        event = body if isinstance(body, bytes) else (body or "{}").encode()
        kind = request_headers.get("x-amz-invocation-type", "RequestResponse")
        if kind == "DryRun":
            return b""
        if kind == "Event":
            asynchronous.submit(self, event)
            return b""
        outcome = runtime.invoke(self, event)
        if outcome.failed:
            response_headers["x-amz-function-error"] = "Unhandled"
        return outcome.payload

    replace(LambdaFunction, "invoke", invoke)
