"""The real definition and the real coordinate, through the embedded SQS, Step Functions, Lambda and DynamoDB."""

import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from functions.adapters.coordination_items import read_incident
from functions.adapters.policies import DynamoPolicies
from functions.ports.policies import Head
from local.aws.deploy import deploy
from local.aws.server import EmbeddedAws
from policies.contract.vocabulary import PolicyMode
from policies.coordination.incident import Incident, incident_id
from policies.coordination.states import IncidentStatus
from tests.integration.local.stacks import arn, eventually, role
from tests.tools.incidents import CLUSTER, POLICY, finding, findings, plan
from tests.tools.tables import INDEXES
from tests.tools.world import ASL

ROOT = Path(__file__).resolve().parents[3]
Json = Any
CLUSTERS = json.dumps([{"name": CLUSTER, "orchestrator": "eks"}])


def table(*attributes: str, key: str = "pk", **more: Json) -> dict[str, Any]:
    return {
        "Type": "AWS::DynamoDB::Table",
        "Properties": {
            "AttributeDefinitions": [
                {"AttributeName": each, "AttributeType": "S"} for each in (key, "sk", *attributes)
            ],
            "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            "BillingMode": "PAY_PER_REQUEST",
            **more,
        },
    }


def function(handler: str, **environment: Json) -> dict[str, Any]:
    tables = {"FLEET_TABLE": {"Ref": "Fleet"}, "INCIDENTS_TABLE": {"Ref": "Incidents"}, "CLUSTERS": CLUSTERS}
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Code": {"S3Bucket": {"Fn::Sub": "assets-${AWS::AccountId}-${AWS::Region}"}, "S3Key": "code.zip"},
            "Handler": handler,
            "Runtime": "python3.14",
            "Role": arn("Role"),
            "Timeout": 10,
            "Environment": {"Variables": {**tables, "RELIGHT_TIME_SCALE": "0.02", **environment}},
        },
    }


def resources() -> dict[str, Any]:
    indexes = [
        {
            "IndexName": name,
            "KeySchema": [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "ALL"},
        }
        for name, (pk, sk) in INDEXES.items()
    ]
    gaps = re.findall(r"\$\{(\w+FunctionArn)\}", json.dumps(ASL))
    substitutions: dict[str, Any] = {gap: arn("Executor") for gap in gaps}
    attributes = sorted({each for keys in INDEXES.values() for each in keys})
    return {
        "Role": role(),
        "MachineRole": role(service="states"),
        "Fleet": table(),
        "Policies": table(key="name"),
        "Incidents": table(*attributes, GlobalSecondaryIndexes=indexes),
        "Queue": {
            "Type": "AWS::SQS::Queue",
            "Properties": {"FifoQueue": True, "QueueName": "decisions.fifo", "VisibilityTimeout": 30},
        },
        "Dead": {"Type": "AWS::SQS::Queue", "Properties": {"FifoQueue": True, "QueueName": "dead.fifo"}},
        "Executor": function("acting.handle"),
        "Machine": {
            "Type": "AWS::StepFunctions::StateMachine",
            "Properties": {
                "DefinitionString": json.dumps(ASL),
                "RoleArn": arn("MachineRole"),
                "DefinitionSubstitutions": {**substitutions, "DecisionsQueueUrl": {"Ref": "Queue"}},
            },
        },
        "Coordinate": function(
            "functions.coordinate.handler.handle",
            STATE_MACHINE_ARN={"Ref": "Machine"},
            POLICIES_TABLE={"Ref": "Policies"},
            DECISIONS_DLQ_URL={"Ref": "Dead"},
        ),
        "Mapping": {
            "Type": "AWS::Lambda::EventSourceMapping",
            "Properties": {
                "EventSourceArn": arn("Queue"),
                "FunctionName": {"Ref": "Coordinate"},
                "BatchSize": 10,
                "FunctionResponseTypes": ["ReportBatchItemFailures"],
            },
        },
    }


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    with EmbeddedAws(tmp_path_factory.mktemp("aws"), code_root=ROOT, time_scale=0.02) as running:
        yield running


def assembly(folder: Path) -> Path:
    code = folder / "asset.code"
    for package in ("functions", "policies"):
        shutil.copytree(ROOT / package, code / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "tests" / "data" / "coordination" / "acting.py", code)
    outputs = {name: {"Value": {"Ref": name}} for name in ("Queue", "Incidents", "Policies", "Machine")}
    template = {"Resources": resources(), "Outputs": outputs}
    destination = {"bucketName": "assets-${AWS::AccountId}-${AWS::Region}", "objectKey": "code.zip"}
    files = {"code": {"source": {"path": code.name, "packaging": "zip"}, "destinations": {"current": destination}}}
    (folder / "Stack.template.json").write_text(json.dumps(template))
    (folder / "Stack.assets.json").write_text(json.dumps({"files": files}))
    return folder


def test_from_the_finding_to_the_closed_incident(aws: EmbeddedAws, tmp_path: Path) -> None:
    outputs = deploy(aws, assembly=assembly(tmp_path), stack="Stack")
    in_force = Head(POLICY, 3, "hash", PolicyMode.ACTIVE, "{}")
    DynamoPolicies(aws.client("dynamodb"), outputs["Policies"]).put_head(in_force, after=0)
    found = finding(seen=datetime.now(UTC))
    message = findings(found.model_copy(update={"policy": plan(settle=20)}))
    for deduplication in ("once", "twice"):
        aws.client("sqs").send_message(
            QueueUrl=outputs["Queue"],
            MessageBody=message.to_json(),
            MessageGroupId=CLUSTER,
            MessageDeduplicationId=deduplication,
        )
    incident = eventually(lambda: closed(aws, outputs, incident_id(found.generation, found.id)), within=240)
    assert incident is not None
    assert incident.outcome == "replaced"
    assert incident.facts == {
        "new_instance": "i-new",
        "chosen_step": 900,
        "resumed_step": 900,
        "confirmed_step": 901,
    }
    assert incident.attempt == 1
    stages = [entry.stage for entry in incident.timeline]
    assert stages[:4] == ["seen", "queued", "decided", "settled"]
    assert stages[-1] == "closed"
    runs = aws.client("stepfunctions").list_executions(stateMachineArn=outputs["Machine"])["executions"]
    assert [run["name"] for run in runs] == [f"{incident.id}-1"]
    assert eventually(lambda: ended(aws, runs[0]["executionArn"])) == "SUCCEEDED"


def closed(aws: EmbeddedAws, outputs: dict[str, str], incident: str) -> Incident | None:
    key = {"pk": {"S": f"INCIDENT#{incident}"}, "sk": {"S": "META"}}
    item = aws.client("dynamodb").get_item(TableName=outputs["Incidents"], Key=key).get("Item")
    read = read_incident(item) if item else None
    return read if read and read.status is IncidentStatus.CLOSED else None


def ended(aws: EmbeddedAws, execution: str) -> str:
    status = aws.client("stepfunctions").describe_execution(executionArn=execution)["status"]
    return "" if status == "RUNNING" else str(status)
