"""Deploying: what cannot be made is named, and the server listens on loopback only."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from local.aws.deploy import deploy
from local.aws.errors import DeployError
from local.aws.no_ops import NO_OPS
from local.aws.server import EmbeddedAws
from tests.integration.local.stacks import arn, assembly, function, launch, role


def _problems(aws: EmbeddedAws, folder: Path, resources: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(DeployError) as caught:
        launch(aws, folder, resources)
    return {problem.logical_id: problem.reason for problem in caught.value.problems}


def test_a_type_that_nobody_knows_is_named_and_so_is_what_refers_to_it(aws: EmbeddedAws, tmp_path: Path) -> None:
    resources = {
        "Pipe": {"Type": "AWS::Pipes::Pipe", "Properties": {}},
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": {"Fn::GetAtt": ["Pipe", "Name"]}}},
        "Fine": {"Type": "AWS::SQS::Queue"},
    }
    problems = _problems(aws, tmp_path, resources)
    assert problems["Pipe"] == "the embedded AWS does not know this type"
    assert problems["Queue"] == "refers to Pipe, which was not made"
    assert "Fine" not in problems


def test_every_problem_is_named_in_one_go(aws: EmbeddedAws, tmp_path: Path, out: Path) -> None:
    resources = {
        "Role": role(),
        "Function": function("sink.event", out, Code={"S3Bucket": "nowhere", "S3Key": "none"}),
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"FifoQueue": True, "QueueName": "bad name"}},
    }
    assert set(_problems(aws, tmp_path, resources)) == {"Function", "Queue"}


def test_the_error_names_id_type_and_reason(aws: EmbeddedAws, tmp_path: Path) -> None:
    with pytest.raises(DeployError, match=re.escape("Thing (AWS::Nothing::AtAll): the embedded AWS does not know")):
        launch(aws, tmp_path, {"Thing": {"Type": "AWS::Nothing::AtAll"}})


@pytest.mark.parametrize("kind", sorted(NO_OPS))
def test_a_written_no_op_is_accepted(aws: EmbeddedAws, tmp_path: Path, kind: str) -> None:
    assert launch(aws, tmp_path, {"Thing": {"Type": kind, "Properties": {}}}).outputs["Thing"] == "no-op/Thing"


def test_an_attribute_of_a_no_op_is_a_problem_of_the_one_that_asks(aws: EmbeddedAws, tmp_path: Path) -> None:
    resources = {
        "Alarm": {"Type": "AWS::CloudWatch::CompositeAlarm", "Properties": {}},
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": arn("Alarm")}},
    }
    assert "is a no-op here and has no Arn" in _problems(aws, tmp_path, resources)["Queue"]


def test_a_condition_that_is_false_makes_nothing_and_is_no_problem(aws: EmbeddedAws, tmp_path: Path) -> None:
    folder = assembly(tmp_path, "Conditional", {"Queue": {"Type": "AWS::SQS::Queue", "Condition": "Never"}}, {})
    path = folder / "Conditional.template.json"
    template = json.loads(path.read_text()) | {"Conditions": {"Never": {"Fn::Equals": ["a", "b"]}}}
    del template["Outputs"]
    path.write_text(json.dumps(template))
    assert deploy(aws, assembly=folder, stack="Conditional") == {}


def test_a_log_groups_arn_covers_its_streams(aws: EmbeddedAws, tmp_path: Path) -> None:
    stack = launch(aws, tmp_path, {"Logs": {"Type": "AWS::Logs::LogGroup"}}, {"Arn": arn("Logs")})
    assert stack.outputs["Arn"].endswith(":*")


def test_outputs_are_resolved(aws: EmbeddedAws, tmp_path: Path) -> None:
    stack = launch(aws, tmp_path, {"Queue": {"Type": "AWS::SQS::Queue"}}, {"Arn": arn("Queue")})
    assert stack.outputs["Arn"].startswith("arn:aws:sqs:us-east-1:")


def test_the_server_listens_on_loopback_only(aws: EmbeddedAws) -> None:
    port = int(aws.endpoint.rpartition(":")[2])
    listening = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if state == "0A" and int(local.rpartition(":")[2], 16) == port:
                listening.add(local.rpartition(":")[0])
    assert listening == {"0100007F"}


def test_the_server_and_its_workers_end_with_close(tmp_path: Path, out: Path) -> None:
    with EmbeddedAws(tmp_path / "data", code_root=tmp_path) as aws:
        stack = launch(aws, tmp_path, {"Role": role(), "Function": function("sink.event", out)})
        answer = stack.client("lambda").invoke(FunctionName=stack.outputs["Function"], Payload=b"{}")
        worker = json.loads(answer["Payload"].read())["pid"]
        assert Path(f"/proc/{worker}").exists()
    assert not Path(f"/proc/{worker}").exists()
    assert (tmp_path / "data/calls.jsonl").read_text()
