"""What roles may do: by hand, by name, and nothing that ends something without the tag."""

from collections.abc import Callable
from typing import Any

import pytest

Find = Callable[[str], dict[str, Any]]
ENDS_OR_STARTS_SOMETHING = (
    "ec2:StopInstances",
    "autoscaling:TerminateInstanceInAutoScalingGroup",
    "sagemaker:StopTrainingJob",
    "sagemaker:CreateTrainingJob",
)
# What AWS lets nobody narrow: it knows no resource for these.
WITHOUT_RESOURCE = {
    "dynamodb:ListStreams",
    "ec2:DescribeInstances",
    "states:SendTaskSuccess",
    "ec2:DescribeInstanceStatus",
    "ec2:DescribeInstanceTopology",
    "autoscaling:DescribeAutoScalingGroups",
    "autoscaling:DescribeAutoScalingInstances",
    "autoscaling:DescribeScalingActivities",
    "autoscaling:DescribeWarmPool",
    "ec2:DescribeCapacityReservations",
}


def as_list(value: Any) -> list[Any]:  # noqa: ANN401 - one or many of whatever IAM allows
    return value if isinstance(value, list) else [value]


def rights(of_type: Find) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [it for policy in role["Policies"] for it in policy["PolicyDocument"]["Statement"]]
        for name, role in of_type("IAM::Role").items()
    }


def test_a_role_has_inline_rights_only(of_type: Find) -> None:
    assert [name for name, role in of_type("IAM::Role").items() if "ManagedPolicyArns" in role] == []
    assert all(rights(of_type).values())


def test_no_action_is_a_wildcard(of_type: Find) -> None:
    actions = {
        action for statements in rights(of_type).values() for it in statements for action in as_list(it["Action"])
    }
    assert len(actions) > 30
    assert [action for action in actions if "*" in action] == []


def test_a_wildcard_resource_is_only_where_aws_knows_none(of_type: Find) -> None:
    for name, statements in rights(of_type).items():
        if name.startswith("WorkflowRole"):
            continue  # the delivery of its log, see infra/workflow.py
        for statement in statements:
            if "*" in as_list(statement["Resource"]):
                assert set(as_list(statement["Action"])) <= WITHOUT_RESOURCE, name


@pytest.mark.parametrize("action", ENDS_OR_STARTS_SOMETHING[:2])
def test_what_ends_an_instance_asks_for_the_tag(of_type: Find, action: str) -> None:
    granted = [it for statements in rights(of_type).values() for it in statements if action in as_list(it["Action"])]
    assert granted
    for statement in granted:
        assert statement["Condition"] == {"StringEquals": {"aws:ResourceTag/relight:cluster": ["training"]}}


def test_only_instances_may_end_one(of_type: Find) -> None:
    able = {
        name
        for name, statements in rights(of_type).items()
        for it in statements
        if set(as_list(it["Action"])) & set(ENDS_OR_STARTS_SOMETHING)
    }
    assert len(able) == 1
    assert next(iter(able)).startswith("InstancesRole")


def test_items_are_written_only_in_partitions_of_their_kind(of_type: Find) -> None:
    fleet = next(name for name in of_type("DynamoDB::Table") if "Fleet" in name)
    incidents = next(name for name in of_type("DynamoDB::Table") if "Incidents" in name)
    for name, statements in rights(of_type).items():
        for statement in statements:
            tables = {it["Fn::GetAtt"][0] for it in as_list(statement["Resource"]) if "Fn::GetAtt" in it}
            if tables & {fleet, incidents} and "dynamodb:PutItem" in as_list(statement["Action"]):
                keys = statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
                assert set(as_list(keys)) <= {"CLUSTER#*", "REJECTS#*", "INCIDENT#*", "INSTANCE#*", "NOTICE#*"}, name


def test_the_state_machine_may_only_call_executors_and_ask(of_type: Find) -> None:
    statements = next(it for name, it in rights(of_type).items() if name.startswith("WorkflowRole"))
    called = next(it for it in statements if it["Action"] == "lambda:InvokeFunction")["Resource"]
    assert sorted(it["Fn::GetAtt"][0].partition("Function")[0] for it in called) == [
        "Checkpoints",
        "Evidence",
        "Instances",
        "Kubernetes",
        "Nodes",
        "Sagemaker",
    ]
    [asked] = [it["Resource"] for it in statements if it["Action"] == "sqs:SendMessage"]
    assert asked["Fn::GetAtt"][0].startswith("LanesDecisions")


def test_a_node_may_send_and_ask_whether_it_could_and_nothing_else(of_type: Find) -> None:
    [policy] = of_type("IAM::ManagedPolicy").values()
    actions = [action for it in policy["PolicyDocument"]["Statement"] for action in as_list(it["Action"])]
    assert sorted(actions) == [
        "dynamodb:Query",
        "dynamodb:UpdateItem",
        "kinesis:DescribeStreamSummary",
        "kinesis:PutRecord",
        "s3:PutObject",
        "sqs:GetQueueAttributes",
        "sqs:SendMessage",
    ]


def test_a_node_writes_evidence_of_its_own_alone_and_never_over_what_is_there(
    template: dict[str, Any], of_type: Find
) -> None:
    [policy] = of_type("IAM::ManagedPolicy").values()
    [statement] = [it for it in policy["PolicyDocument"]["Statement"] if it["Sid"] == "Evidence"]
    assert statement["Resource"]["Fn::Join"][1][1] == "/nodes/${ec2:SourceInstanceARN}/*"
    assert statement["Condition"] == {"StringEquals": {"s3:if-none-match": "*"}}
    told = str(template["Outputs"]["NodePolicyJson"])
    assert "s3:if-none-match" in told
    assert "${ec2:SourceInstanceARN}" in told


def test_a_node_sees_and_answers_the_commands_to_itself_alone(of_type: Find) -> None:
    [policy] = of_type("IAM::ManagedPolicy").values()
    [statement] = [it for it in policy["PolicyDocument"]["Statement"] if it["Sid"] == "Commands"]
    [table] = as_list(statement["Resource"])
    assert table["Fn::GetAtt"][0].startswith("TablesCommands")
    keys = statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    assert as_list(keys) == ["NODE#${ec2:SourceInstanceARN}"]


def test_commands_are_issued_by_whoever_asks_nodes_and_by_nobody_else(of_type: Find) -> None:
    issuing = {
        name.partition("Role")[0]
        for name, statements in rights(of_type).items()
        for it in statements
        if it["Sid"] == "Commands"
    }
    assert issuing == {"Evidence", "Nodes"}
