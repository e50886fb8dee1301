"""What a function's log says of a worker that is gone: nothing, where this AWS itself ended it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from local.aws.clock import Clock
from local.aws.errors import WorkerLostError
from local.aws.lambdas.runtime import LambdaRuntime

FUNCTION = SimpleNamespace(
    function_name="Guard",
    function_arn="arn:aws:lambda:us-east-1:123456789012:function:Guard",
    handler="functions.guard.handler.handle",
    memory_size=256,
    timeout=30,
    run_time="python3.14",
    region="us-east-1",
    role="arn:aws:iam::123456789012:role/Guard",
    environment_vars={},
)


class LosingPool:
    """Every worker of it dies in mid-call."""

    def __init__(self, *, is_closing: bool) -> None:
        self.is_closing = is_closing

    def invoke(self, *_: object) -> Any:
        raise WorkerLostError


@pytest.mark.parametrize(("is_closing", "lines"), [(True, 0), (False, 1)])
def test_a_worker_that_ends_with_this_aws_leaves_no_error_in_the_log(
    is_closing: bool,
    lines: int,
    tmp_path: Path,
) -> None:
    log = tmp_path / "Guard.log"
    log.touch()
    code: Any = SimpleNamespace(directory=lambda _function: tmp_path)
    runtime = LambdaRuntime(
        pool=cast("Any", LosingPool(is_closing=is_closing)),
        code=code,
        logs=tmp_path,
        recorder=cast("Any", None),
        clock=Clock(1.0),
        endpoint="http://127.0.0.1:1",
    )
    answer = runtime.invoke(FUNCTION, b"{}")
    assert answer.failed
    assert answer.value()["errorType"] == "Runtime.ExitError"
    assert log.read_text().count("Runtime.ExitError") == lines
