"""The state machine handle-incident: its ASL file, what fills its gaps, its role and its log.

Decides which function a task calls. It must not know what the states mean (`asl/handle-incident.asl.json` does).
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as stepfunctions
from constructs import Construct

from infra import roles
from infra.answers import acknowledge
from infra.lanes import Lanes
from infra.log_groups import log_group
from infra.permissions import grants
from infra.routing import by_cluster
from infra.settings import DeploymentError, LogDays

KUBERNETES = "KubernetesFunctionArn"
ASL = Path(__file__).parent / "asl" / "handle-incident.asl.json"
_GAP = re.compile(r"\$\{(\w+)\}")
# The delivery of execution logs is set up by these, and none of them takes a resource (Step Functions developer guide,
# "Using CloudWatch Logs to log execution history").
_LOG_DELIVERY = (
    "logs:CreateLogDelivery",
    "logs:GetLogDelivery",
    "logs:UpdateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:DescribeResourcePolicies",
    "logs:DescribeLogGroups",
)


class Workflow(Construct):
    """handle-incident. It speaks to coordinate only through the decisions queue."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        executors: Mapping[str, lambda_.Function],
        lanes: Lanes,
        log_days: LogDays,
        definition: str,
    ) -> None:
        """Create log group, role and machine. *executors*: gap of *definition* -> function."""
        super().__init__(scope, construct_id)
        role = roles.role(self, "states.amazonaws.com", "Relight: handle-incident", _rights(executors, lanes))
        fillings = {name: function.function_arn for name, function in executors.items()}
        fillings["DecisionsQueueUrl"] = lanes.decisions.queue_url
        self.machine = stepfunctions.StateMachine(
            self,
            "HandleIncident",
            state_machine_type=stepfunctions.StateMachineType.STANDARD,
            definition_body=stepfunctions.DefinitionBody.from_string(definition),
            definition_substitutions={name: fillings[name] for name in _gaps(definition, fillings)},
            role=role.without_policy_updates(),
            # Inputs and outputs stay out of the log: task tokens travel in them.
            logs=stepfunctions.LogOptions(
                destination=log_group(self, log_days), level=stepfunctions.LogLevel.ALL, include_execution_data=False
            ),
        )
        acknowledge(
            self.machine,
            {"SF2": "Tracing samples runs; the incidents table keeps every step of every run, with its reason."},
        )


def _rights(executors: Mapping[str, lambda_.Function], lanes: Lanes) -> list[grants.Right]:
    functions = [function.function_arn for function in executors.values()]
    return [
        grants.allow("Executors", ["lambda:InvokeFunction"], functions),
        grants.send("Ask", lanes.decisions),
        grants.allow("LogDelivery", _LOG_DELIVERY, ["*"], why=grants.NO_RESOURCE),
    ]


def _gaps(text: str, fillings: Mapping[str, str]) -> list[str]:
    """Return the gaps of the definition; DeploymentError when it asks for what nobody fills."""
    found = sorted(set(_GAP.findall(text)))
    unknown = [name for name in found if name not in fillings]
    if unknown:
        raise DeploymentError(f"{ASL.name} asks for {unknown}; infra/workflow.py fills {sorted(fillings)}.")
    return found


def read(others: Mapping[str, Sequence[str]], path: Path = ASL) -> str:
    """Return the definition as one line, its Kubernetes task split by VPC when there are *others* (`routing.py`)."""
    try:
        definition = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DeploymentError(f"{path.name} is not JSON: {error}.") from None
    return json.dumps(by_cluster(definition, KUBERNETES, others), separators=(",", ":"))
