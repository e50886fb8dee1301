"""How old an event is counts from when it was sent, not from when the server began."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from local.aws.clock import Clock
from local.aws.lambdas.asynchronous import AsyncInvoker
from local.aws.lambdas.runtime import Invocation


class Failing:
    """A runtime whose every invocation fails."""

    def __init__(self, enough: int) -> None:
        self.invoked = 0
        self.enough = enough
        self.done = threading.Event()

    def invoke(self, function: Any, event: bytes) -> Invocation:
        self.invoked += 1
        if self.invoked == self.enough:
            self.done.set()
        return Invocation(b'{"errorMessage": "always"}', failed=True)


class AtOnce:
    """Delays that are over at once."""

    def call_later(self, seconds: float, action: Callable[[], object]) -> None:
        action()


def test_an_event_is_tried_three_times_however_long_the_server_has_run() -> None:
    runtime = Failing(enough=3)
    clock = Clock(time_scale=0.01, started=datetime.now(UTC) - timedelta(days=1))
    invoker = AsyncInvoker(runtime=runtime, delays=AtOnce(), clock=clock)  # type: ignore[arg-type]
    invoker.submit(SimpleNamespace(function_name="f", event_invoke_config=None), b"{}")
    assert runtime.done.wait(60)
    assert runtime.invoked == 3
