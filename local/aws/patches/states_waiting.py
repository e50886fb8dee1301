"""Waits and retry pauses of state machines last as long as the time scale says.

moto waits in true time, and sleeps through a StopExecution during a retry pause. Timeouts and heartbeats are not
scaled: they bound work that runs no faster.
"""

import time
from typing import Any

from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import WaitFunction

from local.aws.clock import Clock
from local.aws.patches.replacing import replace

# How soon a stopped execution is noticed in a wait.
_STEP = 0.25


class _ScaledTime:
    """Stands for the `time` module where a retrier sleeps."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def sleep(self, seconds: float) -> None:
        self._clock.sleep(seconds)


def apply(clock: Clock) -> None:
    def wait(self: Any, env: Any, wait_seconds: float) -> None:  # noqa: ARG001 - moto's signature
        deadline = time.monotonic() + clock.real_seconds(wait_seconds)
        while env.is_running() and (left := deadline - time.monotonic()) > 0:
            env.program_state_event.wait(min(left, _STEP))

    replace(WaitFunction, "_wait_interval", wait)
    replace(retrier_decl, "time", _ScaledTime(clock))
