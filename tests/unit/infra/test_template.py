"""What the checkers say of the template, and what holds for it as a whole. cdk-nag has spoken when it exists at all."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infra.synth import synthesise
from tests.tools.trail_stack import ASSEMBLY, SETTINGS

Find = Callable[[str], dict[str, Any]]
# CDK lets a function wait for its role by name although it refers to it: one word too many, and not ours to change.
IGNORED = "W3005"


def test_cfn_lint_has_nothing_to_say(template_path: Path) -> None:
    linter = Path(sys.executable).with_name("cfn-lint")
    with_trail = synthesise(ASSEMBLY, settings=SETTINGS)
    run = subprocess.run(
        [linter, "--ignore-checks", IGNORED, "--regions", "us-east-1", "--", template_path, with_trail],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, "")


def test_cdk_nag_ran_and_every_answer_has_a_reason(template_path: Path) -> None:
    [report] = json.loads((template_path.parent / "validation-report.json").read_text())["pluginReports"]
    assert (report["pluginName"], report["conclusion"], report["violations"]) == ("AwsSolutions", "success", [])
    answered = report["suppressedViolations"]
    assert {answer["ruleName"].partition("[")[0] for answer in answered} == {"AwsSolutions-IAM5", "AwsSolutions-SF2"}
    assert [answer for answer in answered if len(answer["reason"].split()) < 4] == []


def test_it_holds_what_the_design_asks_for(template: dict[str, Any]) -> None:
    kinds = Counter(resource["Type"].removeprefix("AWS::") for resource in template["Resources"].values())
    assert kinds["Lambda::Function"] == 14
    assert kinds["IAM::Role"] == 15  # one a function, one for the state machine
    assert kinds["Logs::LogGroup"] == 15
    assert kinds["DynamoDB::Table"] == 4
    assert kinds["S3::Bucket"] == 4
    assert kinds["StepFunctions::StateMachine"] == 1
    assert kinds["IAM::Policy"] == 0  # nothing adds rights behind our back


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("Kinesis::Stream", "Name"),
        ("SQS::Queue", "QueueName"),
        ("DynamoDB::Table", "TableName"),
        ("S3::Bucket", "BucketName"),
        ("SNS::Topic", "TopicName"),
        ("Lambda::Function", "FunctionName"),
        ("IAM::Role", "RoleName"),
        ("Logs::LogGroup", "LogGroupName"),
        ("StepFunctions::StateMachine", "StateMachineName"),
        ("CloudWatch::Alarm", "AlarmName"),
    ],
)
def test_nothing_has_a_fixed_physical_name(of_type: Find, kind: str, name: str) -> None:
    assert of_type(kind)
    assert [logical for logical, properties in of_type(kind).items() if name in properties] == []


@pytest.mark.parametrize("kind", ["DynamoDB::Table", "S3::Bucket", "Kinesis::Stream"])
def test_what_holds_data_outlives_the_stack(template: dict[str, Any], kind: str) -> None:
    found = [it for it in template["Resources"].values() if it["Type"] == f"AWS::{kind}"]
    assert {(it["DeletionPolicy"], it["UpdateReplacePolicy"]) for it in found} == {("Retain", "Retain")}


def test_outputs_name_what_settings_files_need(template: dict[str, Any]) -> None:
    wanted = {
        "FaultsStream",
        "OverflowQueueUrl",
        "DecisionsQueueUrl",
        "AwsEventsQueueUrl",
        "FleetTable",
        "IncidentsTable",
        "PoliciesTable",
        "CommandsTableArn",
        "ArchiveBucket",
        "EvidenceBucket",
        "RejectsBucket",
        "BusName",
        "AlertsTopicArn",
        "StateMachineArn",
        "NodePolicyArn",
        "NodePolicyJson",
        "KubernetesRoleArn",
        "CoordinateFunction",
    }
    assert wanted <= template["Outputs"].keys()
