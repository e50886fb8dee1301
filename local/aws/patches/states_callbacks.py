"""Task tokens: the first answer counts, a late one is told so, and an execution that just starts disturbs nobody.

moto lets a second answer overwrite the first, says InvalidToken for a token whose execution has ended (AWS:
TaskTimedOut), drops the cause of a failure, and fails when any execution has not made its environment yet.
"""

import json
import threading
from typing import Any

from moto.core.exceptions import AWSError
from moto.core.responses import EmptyResult
from moto.stepfunctions.exceptions import InvalidToken
from moto.stepfunctions.parser.asl.eval.callback.callback import CallbackOutcomeFailure, CallbackOutcomeSuccess
from moto.stepfunctions.parser.models import StepFunctionsParserBackend
from moto.stepfunctions.responses import StepFunctionResponse

from local.aws.patches.replacing import replace

_lock = threading.Lock()
_SHORTEST_TOKEN = 16  # any shorter text was never a token of ours


class TaskTimedOut(AWSError):  # noqa: N818 - the name of the error in the API
    """The task behind a token has ended, or has been answered."""

    TYPE = "TaskTimedOut"
    STATUS = 400

    def __init__(self) -> None:
        super().__init__("Task Timed Out: 'Provided task does not exist anymore'")


def apply() -> None:
    replace(StepFunctionsParserBackend, "send_task_success", _success)
    replace(StepFunctionsParserBackend, "send_task_failure", _failure)
    replace(StepFunctionsParserBackend, "send_task_heartbeat", _heartbeat)
    replace(StepFunctionResponse, "send_task_failure", _respond_failure)


def _success(self: Any, task_token: str, outcome: str) -> None:
    json.loads(outcome)
    _answer(_endpoint(self, task_token), CallbackOutcomeSuccess(callback_id=task_token, output=outcome))


def _failure(self: Any, task_token: str, error: str | None = None, cause: str | None = None) -> None:
    _answer(_endpoint(self, task_token), CallbackOutcomeFailure(callback_id=task_token, error=error, cause=cause))


def _heartbeat(self: Any, task_token: str) -> None:
    _endpoint(self, task_token).notify_heartbeat()


def _respond_failure(self: Any) -> Any:
    self.stepfunction_backend.send_task_failure(
        self._get_param("taskToken"), error=self._get_param("error"), cause=self._get_param("cause")
    )
    return EmptyResult()


def _endpoint(backend: Any, token: str) -> Any:
    """The task that waits for this token."""
    if len(token) < _SHORTEST_TOKEN:
        raise InvalidToken(f"'{token}'")
    for machine in list(backend.state_machines):
        for execution in [each for each in list(machine.executions) if each.status == "RUNNING"]:
            env = getattr(execution.exec_worker, "env", None)
            endpoint = env.callback_pool_manager.get(token) if env is not None else None
            if endpoint is not None and endpoint.consumer_error is None:
                return endpoint
    raise TaskTimedOut


def _answer(endpoint: Any, outcome: Any) -> None:
    with _lock:
        if endpoint.get_outcome() is not None:
            raise TaskTimedOut
        endpoint.notify(outcome=outcome)
