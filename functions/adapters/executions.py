"""handle-incident's executions on Step Functions. An execution's ARN follows from its name.

It must not decide whether to start one.
"""

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters.aws import calling, error_code
from policies.contract.decisions import Answer
from policies.coordination.incident import execution_input, execution_name
from policies.coordination.snapshot import ExecutionState

if TYPE_CHECKING:
    from types_boto3_stepfunctions import SFNClient

# The ask timed out and was asked again, its execution ended, or a repeat of ours came first: nobody waits.
_NOBODY_WAITS = frozenset({"TaskTimedOut", "TaskDoesNotExist", "InvalidToken"})


class StepFunctionsExecutions:
    """The executions of one state machine."""

    def __init__(self, client: "SFNClient", state_machine_arn: str) -> None:
        """Keep the client, which threads may share, and the machine's ARN."""
        self._client = client
        self._machine = state_machine_arn

    def start(self, cluster: str, incident: str, attempt: int) -> None:
        """Start it; a running one of the same name and input is the same, an ended one stays ended."""
        name = execution_name(incident, attempt)
        with calling(f"starting execution {name}"):
            try:
                self._client.start_execution(
                    stateMachineArn=self._machine, name=name, input=execution_input(cluster, incident, attempt)
                )
            except ClientError as error:
                if error_code(error) != "ExecutionAlreadyExists":
                    raise

    def describe(self, incident: str, attempt: int) -> ExecutionState:
        """Return what became of it."""
        name = execution_name(incident, attempt)
        arn = f"{self._machine.replace(':stateMachine:', ':execution:')}:{name}"
        with calling(f"describing execution {name}"):
            try:
                status = self._client.describe_execution(executionArn=arn)["status"]
            except ClientError as error:
                if error_code(error) != "ExecutionDoesNotExist":
                    raise
                return ExecutionState.ABSENT
        return ExecutionState.RUNNING if status in {"RUNNING", "PENDING_REDRIVE"} else ExecutionState.ENDED

    def answer(self, token: str, answer: Answer) -> bool:
        """Answer the ask that waits with *token*; False when nobody does any more."""
        with calling("answering an ask"):
            try:
                self._client.send_task_success(taskToken=token, output=answer.to_json())
            except ClientError as error:
                if error_code(error) not in _NOBODY_WAITS:
                    raise
                return False
        return True
