"""Who writes policies: nothing of it is there unless it is asked for, and then the trail records no more than that."""

import json
from collections import Counter
from typing import Any

import pytest

from functions.callers.settings import Settings
from infra.context import gather
from infra.settings import read
from infra.synth import synthesise
from tests.tools.trail_stack import ASSEMBLY, SETTINGS

Resources = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def own() -> Resources:
    template = json.loads(synthesise(ASSEMBLY, settings=SETTINGS).read_text(encoding="utf-8"))
    resources: Resources = template["Resources"]
    return resources


def one(resources: Resources, kind: str, beginning: str = "") -> dict[str, Any]:
    """Return the properties of the one resource of this type whose name begins so."""
    [found] = [
        it["Properties"]
        for name, it in resources.items()
        if it["Type"] == f"AWS::{kind}" and name.startswith(beginning)
    ]
    return dict(found)


def test_nothing_of_it_is_there_by_default_and_with_it_nothing_else_changes(
    template: dict[str, Any], own: Resources
) -> None:
    usual: Resources = template["Resources"]
    assert [name for name in usual if "Calls" in name or "Callers" in name or "Trail" in name] == []
    changed = {name for name, it in usual.items() if _without_code(own[name]) != _without_code(it)}
    # What a new queue, rule, bucket and function add a line to.
    assert {name[:-8] for name in changed} == {"Dashboard", "LanesUndeliveredPolicy", "BucketsAccessLogsPolicy"}
    added = {it["Type"].removeprefix("AWS::") for name, it in own.items() if name not in usual}
    assert added == {
        "CloudTrail::Trail",
        "CloudWatch::Alarm",
        "Events::Rule",
        "IAM::Role",
        "Lambda::EventSourceMapping",
        "Lambda::Function",
        "Logs::LogGroup",
        "S3::Bucket",
        "S3::BucketPolicy",
        "SQS::Queue",
        "SQS::QueuePolicy",
    }


def _without_code(resource: dict[str, Any]) -> dict[str, Any]:
    """Return *resource* without the hash of the code, which somebody may have saved between the two templates."""
    properties = resource.get("Properties", {})
    return {**resource, "Metadata": {}, "Properties": {k: v for k, v in properties.items() if k != "Code"}}


def test_the_trail_records_writes_to_the_policies_table_and_nothing_else(own: Resources) -> None:
    trail = one(own, "CloudTrail::Trail")
    [selector] = trail["AdvancedEventSelectors"]
    fields = {each["Field"]: each["Equals"] for each in selector["FieldSelectors"]}
    [table] = [name for name in own if name.startswith("TablesPolicies")]
    assert fields == {
        "eventCategory": ["Data"],
        "resources.type": ["AWS::DynamoDB::Table"],
        "resources.ARN": [{"Fn::GetAtt": [table, "Arn"]}],
        "readOnly": ["false"],
    }
    assert "EventSelectors" not in trail
    assert (trail["IsLogging"], trail["IsMultiRegionTrail"], trail["EnableLogFileValidation"]) == (True, False, True)


def test_only_this_trail_may_write_into_its_bucket_and_the_policy_is_there_first(own: Resources) -> None:
    [(name, trail)] = [(name, it) for name, it in own.items() if it["Type"] == "AWS::CloudTrail::Trail"]
    [policy] = [each for each in own if each.startswith("BucketsTrailPolicy")]
    assert trail["DependsOn"] == [policy]
    allowed = {
        it["Action"]: it["Condition"]["StringEquals"]
        for it in own[policy]["Properties"]["PolicyDocument"]["Statement"]
        if it["Effect"] == "Allow" and it["Principal"] == {"Service": "cloudtrail.amazonaws.com"}
    }
    assert allowed.keys() == {"s3:GetBucketAcl", "s3:PutObject"}
    for condition in allowed.values():
        assert f":trail/{trail['Properties']['TrailName']}" in json.dumps(condition["aws:SourceArn"]), name
    assert allowed["s3:PutObject"]["s3:x-amz-acl"] == "bucket-owner-full-control"


def test_the_rule_takes_calls_on_the_table_to_a_queue_that_only_it_may_send_to(own: Resources) -> None:
    rule = one(own, "Events::Rule", "PolicyCalls")
    [table] = [name for name in own if name.startswith("TablesPolicies")]
    assert rule["EventPattern"]["detail-type"] == ["AWS API Call via CloudTrail"]
    assert rule["EventPattern"]["detail"]["resources"] == {"ARN": [{"Fn::GetAtt": [table, "Arn"]}]}
    queue = rule["Targets"][0]["Arn"]["Fn::GetAtt"][0]
    assert "deadLetterTargetArn" in own[queue]["Properties"]["RedrivePolicy"]
    [sends] = [
        statement
        for name, it in own.items()
        if it["Type"] == "AWS::SQS::QueuePolicy" and it["Properties"]["Queues"] == [{"Ref": queue}]
        for statement in it["Properties"]["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    ]
    [name] = [each for each in own if each.startswith("PolicyCallsWritesRule")]
    assert sends["Condition"] == {"ArnEquals": {"aws:SourceArn": {"Fn::GetAtt": [name, "Arn"]}}}


def test_the_function_knows_who_is_ours_and_may_write_nothing_but_its_notes(own: Resources) -> None:
    variables = one(own, "Lambda::Function", "Callers")["Environment"]["Variables"]
    told = {name: value if isinstance(value, str) else json.dumps(value) for name, value in variables.items()}
    assert len(Settings.from_environment(told).own_roles) > 0
    parts = variables["OWN_ROLES"]["Fn::Join"][1]
    roles = [each["Fn::GetAtt"][0] for each in parts if isinstance(each, dict)]
    assert [name[:-8] for name in roles] == ["GuardRole", "CoordinateRole", "CallersRole"]
    [policy] = one(own, "IAM::Role", "CallersRole")["Policies"]
    writes = {
        statement["Sid"]: statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
        for statement in policy["PolicyDocument"]["Statement"]
        if "dynamodb" in str(statement["Action"])
    }
    assert writes == {"Callers": ["#call#*"], "Notices": ["NOTICE#*"]}


def test_its_alarms_are_there_with_it(own: Resources) -> None:
    alarms = {name.removeprefix("Alarms")[:-8] for name, it in own.items() if it["Type"] == "AWS::CloudWatch::Alarm"}
    assert alarms >= {"CallsAge", "CallsDlqDepth", "CallersErrors", "CallersThrottles"}


def test_cdk_nag_has_nothing_to_say_of_it(own: Resources) -> None:
    [report] = json.loads((ASSEMBLY / "validation-report.json").read_text(encoding="utf-8"))["pluginReports"]
    assert (report["conclusion"], report["violations"]) == ("success", []), own.keys()


def test_a_trail_that_is_there_already_gets_only_the_rule() -> None:
    from aws_cdk import App, Stack  # noqa: PLC0415 - after node.prepare()
    from aws_cdk.assertions import Template  # noqa: PLC0415 - the same

    from infra.buckets import Buckets  # noqa: PLC0415 - the same
    from infra.calls import Calls  # noqa: PLC0415 - the same
    from infra.lanes import Lanes  # noqa: PLC0415 - the same
    from infra.tables import Tables  # noqa: PLC0415 - the same

    stack = Stack(App(context=gather([], {}), analytics_reporting=False), "Ours")
    deployment = read(SETTINGS).model_copy(update={"policy_trail": "existing"})
    lanes, tables, buckets = Lanes(stack, "L", with_calls=True), Tables(stack, "T"), Buckets(stack, "B", deployment)
    Calls(stack, "C", lanes=lanes, table=tables.policies, bucket=buckets.trail)
    kinds = Counter(it["Type"] for it in Template.from_stack(stack).to_json()["Resources"].values())
    assert (kinds["AWS::CloudTrail::Trail"], kinds["AWS::S3::Bucket"], kinds["AWS::Events::Rule"]) == (0, 4, 1)
