"""Runs one invocation of a function of moto's in a worker, and shapes failures as Lambda does.

It decides what a worker starts with (environment, deadline). It knows nothing of retries or event sources.
"""

import json
import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.aws import principals
from local.aws.clock import Clock
from local.aws.errors import WorkerLostError
from local.aws.lambdas.code import CodeStore
from local.aws.recorder import Recorder
from local.aws.workers.pool import WorkerPool, WorkerSpec, environment_items

# Of this machine's environment a worker sees what an interpreter needs to run, and nothing of the developer's.
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "LANG", "VIRTUAL_ENV")


@dataclass(frozen=True, slots=True)
class Invocation:
    """The outcome: a JSON payload, and whether it describes an error (`FunctionError: Unhandled`)."""

    payload: bytes
    failed: bool

    def value(self) -> Any:
        return json.loads(self.payload or b"null")


class LambdaRuntime:
    """Functions to workers."""

    def __init__(
        self, *, pool: WorkerPool, code: CodeStore, logs: Path, recorder: Recorder, clock: Clock, endpoint: str
    ) -> None:
        self._pool = pool
        self._code = code
        self._logs = logs
        self._recorder = recorder
        self._clock = clock
        self._endpoint = endpoint

    def invoke(self, function: Any, event: bytes) -> Invocation:
        """Run the function and wait for its answer. It never raises for what the function does."""
        spec = self._spec(function)
        timeout = float(function.timeout)
        try:
            answer = self._pool.invoke(spec, event, timeout)
        except TimeoutError:
            return self._ended(spec, "Sandbox.Timedout", f"Error: Task timed out after {timeout:.2f} seconds")
        except WorkerLostError:
            return self._ended(spec, "Runtime.ExitError", "Error: Runtime exited without providing a reason")
        return Invocation(answer.payload, answer.failed)

    def _ended(self, spec: WorkerSpec, kind: str, text: str) -> Invocation:
        message = f"RequestId: {uuid.uuid4()} {text}"
        if not self._pool.is_closing:  # what ends with this AWS did not fail: a log must not send anybody after it
            with spec.log_file.open("a") as log:
                log.write(f"{kind} {message}\n")
        return Invocation(json.dumps({"errorType": kind, "errorMessage": message}).encode(), failed=True)

    def _spec(self, function: Any) -> WorkerSpec:
        group = log_group(function)
        return WorkerSpec(
            function_name=function.function_name,
            function_arn=function.function_arn,
            handler=function.handler,
            task_root=self._code.directory(function),
            log_file=self._logs / f"{function.function_name}.log",
            log_group=group,
            memory=str(function.memory_size),
            environment=environment_items(self._environment(function, group)),
        )

    def _environment(self, function: Any, group: str) -> dict[str, str]:
        own = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        if self._clock.time_scale != 1.0:
            own["RELIGHT_TIME_SCALE"] = str(self._clock.time_scale)
        return {
            **own,
            **{name: str(value) for name, value in (function.environment_vars or {}).items()},
            "HOME": "/tmp",  # noqa: S108 - as in Lambda, where it is the only place to write
            "TZ": "UTC",
            "PYTHONUNBUFFERED": "1",
            "LAMBDA_TASK_ROOT": str(self._code.directory(function)),
            "_HANDLER": function.handler,
            "AWS_LAMBDA_FUNCTION_NAME": function.function_name,
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_size),
            "AWS_LAMBDA_LOG_GROUP_NAME": group,
            "AWS_LAMBDA_LOG_STREAM_NAME": "local",
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{function.run_time}",
            "AWS_REGION": function.region,
            "AWS_DEFAULT_REGION": function.region,
            "AWS_ENDPOINT_URL": self._endpoint,
            "AWS_ACCESS_KEY_ID": principals.access_key(principals.role_name(function.role)),
            "AWS_SECRET_ACCESS_KEY": "not-checked",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def record_logging(self, function: Any) -> None:
        """Lambda writes a function's log under its role: count the grants that this takes."""
        arn = f"arn:aws:logs:{function.region}:{function.account_id}:log-group:{log_group(function)}:log-stream:local"
        role = principals.role_name(function.role)
        self._recorder.record(role, "logs:CreateLogStream", (arn,))
        self._recorder.record(role, "logs:PutLogEvents", (arn,))


def log_group(function: Any) -> str:
    """The function's own log group, or the one Lambda would make for it."""
    properties = getattr(function, "relight_properties", {})
    group: str | None = properties.get("LoggingConfig", {}).get("LogGroup")
    return group or f"/aws/lambda/{function.function_name}"
