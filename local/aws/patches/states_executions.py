"""Executions: one a name, however many ask at once; stopped with a reason; forgotten some time after their end.

moto checks the name and appends the execution without a lock (two StartExecution calls at once both start), needs a
name, drops error and cause of StopExecution, keeps all executions with their history, collects every thread, and
describes an output that is a text without its quotes and a timed-out execution without its end.
"""

import json
import threading
import uuid
from typing import Any

from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.stepfunctions.parser import utils
from moto.stepfunctions.parser.models import StepFunctionsParserBackend
from moto.stepfunctions.responses import StepFunctionResponse

from local.aws.patches.replacing import replace

# Finished executions kept for each state machine: what a person looks back at, and names that must stay taken.
KEPT_FINISHED = 2_000

_lock = threading.RLock()


def apply() -> None:
    original = StepFunctionsParserBackend.start_execution

    def start(
        self: Any,
        state_machine_arn: str,
        name: str | None = None,
        execution_input: str | None = None,
        trace_header: Any = None,
    ) -> Any:
        with _lock:
            utils.TMP_THREADS.clear()
            _forget_oldest(self.describe_state_machine(state_machine_arn))
            return original(self, state_machine_arn, name or str(uuid.uuid4()), execution_input or "{}", trace_header)

    replace(StepFunctionsParserBackend, "start_execution", start)
    replace(StepFunctionResponse, "stop_execution", _stop)
    replace(StepFunctionResponse, "describe_execution", _describe)


def _forget_oldest(machine: Any) -> None:
    surplus = len(machine.executions) - KEPT_FINISHED
    for execution in [each for each in machine.executions if each.status != "RUNNING"][: max(0, surplus)]:
        machine.executions.remove(execution)


def _stop(self: Any) -> Any:
    execution = self.stepfunction_backend.describe_execution(self._get_param("executionArn"))
    error, cause = self._get_param("error"), self._get_param("cause")
    execution.stop(stop_date=utcnow(), error=error, cause=cause)
    execution.error, execution.cause = error, cause
    return ActionResult({"stopDate": utcnow()})


def _describe(self: Any) -> Any:
    execution = self.stepfunction_backend.describe_execution(self._get_param("executionArn"))
    described = {
        "executionArn": execution.execution_arn,
        "input": execution.execution_input,
        "name": execution.name,
        "startDate": execution.start_date,
        "stateMachineArn": execution.state_machine_arn,
        "status": str(execution.status),
    }
    optional = {"stopDate": execution.stop_date, "error": execution.error, "cause": execution.cause}
    described |= {name: value for name, value in optional.items() if value is not None}
    if described["status"] == "SUCCEEDED":
        described["output"] = json.dumps(execution.output, separators=(",", ":"))
    return ActionResult(described)
