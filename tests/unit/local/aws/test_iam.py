"""Policies against calls: what they allow, what they deny, what nobody used."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.aws.iam import Grant, allowed, check, like
from local.aws.recorder_types import RecordedCall

_TABLE = "arn:aws:dynamodb:us-east-1:1:table/fleet"


def _policy(*statements: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"Version": "2012-10-17", "Statement": list(statements)}]


def _allow(action: Any, resource: Any = "*", **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


@pytest.mark.parametrize(
    ("statement", "action", "resource"),
    [
        (_allow("dynamodb:PutItem", _TABLE), "dynamodb:PutItem", _TABLE),
        (_allow(["dynamodb:Get*", "dynamodb:Put*"], _TABLE), "dynamodb:PutItem", _TABLE),
        (_allow("dynamodb:putitem", _TABLE), "dynamodb:PutItem", _TABLE),
        (_allow("s3:GetObject", "arn:aws:s3:::b/*"), "s3:GetObject", "arn:aws:s3:::b/a/b"),
        (_allow("ec2:Describe*"), "ec2:DescribeInstances", "*"),
        ({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}, "s3:GetObject", "arn:aws:s3:::b/k"),
        ({"Effect": "Allow", "Action": "s3:*", "NotResource": "arn:aws:s3:::b/*"}, "s3:GetObject", "arn:aws:s3:::c/k"),
    ],
)
def test_it_is_allowed(statement: dict[str, Any], action: str, resource: str) -> None:
    assert allowed(_policy(statement), action, resource)


@pytest.mark.parametrize(
    ("statement", "action", "resource"),
    [
        (_allow("dynamodb:PutItem", _TABLE), "dynamodb:GetItem", _TABLE),
        (_allow("dynamodb:PutItem", _TABLE), "dynamodb:PutItem", _TABLE + "2"),
        (_allow("dynamodb:PutItem", _TABLE), "dynamodb:PutItem", "*"),
        (_allow("s3:GetObject", "arn:aws:s3:::b"), "s3:GetObject", "arn:aws:s3:::b/a"),
        ({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}, "iam:PassRole", "*"),
    ],
)
def test_it_is_not_allowed(statement: dict[str, Any], action: str, resource: str) -> None:
    assert not allowed(_policy(statement), action, resource)


def test_a_deny_outweighs_every_allow() -> None:
    deny = {"Effect": "Deny", "Action": "s3:Delete*", "Resource": "*"}
    assert not allowed(_policy(_allow("s3:*"), deny), "s3:DeleteObject", "arn:aws:s3:::b/k")
    assert allowed(_policy(_allow("s3:*"), deny), "s3:GetObject", "arn:aws:s3:::b/k")


_TAGGED = {"aws:ResourceTag/relight:cluster": ("training",)}


@pytest.mark.parametrize(
    ("condition", "context", "expected"),
    [
        ({"StringEquals": {"aws:ResourceTag/relight:cluster": ["training", "x"]}}, _TAGGED, True),
        ({"StringEquals": {"aws:resourcetag/relight:cluster": "training"}}, _TAGGED, True),
        ({"StringEquals": {"aws:ResourceTag/relight:cluster": "other"}}, _TAGGED, False),
        ({"StringEquals": {"aws:ResourceTag/relight:cluster": "training"}}, {}, False),
        ({"StringEqualsIfExists": {"aws:ResourceTag/relight:cluster": "training"}}, {}, True),
        ({"StringNotEquals": {"aws:ResourceTag/relight:cluster": "other"}}, _TAGGED, True),
        ({"StringLike": {"aws:ResourceTag/relight:cluster": "tr?in*"}}, _TAGGED, True),
        ({"ArnLike": {"aws:SourceArn": "arn:aws:sns:*:1:t"}}, {"aws:SourceArn": ("arn:aws:sns:r:1:t",)}, True),
        ({"Bool": {"aws:SecureTransport": False}}, {"aws:SecureTransport": ("false",)}, True),
        ({"Null": {"aws:TokenIssueTime": "true"}}, {}, True),
        ({"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["CLUSTER#*"]}}, {}, True),
        ({"ForAllValues:StringLike": {"k": ["CLUSTER#*"]}}, {"k": ("CLUSTER#a", "CLUSTER#b")}, True),
        ({"ForAllValues:StringLike": {"k": ["CLUSTER#*"]}}, {"k": ("CLUSTER#a", "OTHER#b")}, False),
        ({"ForAnyValue:StringEquals": {"k": ["b"]}}, {"k": ("a", "b")}, True),
        ({"NumericLessThan": {"s3:max-keys": "10"}}, {"s3:max-keys": ("5",)}, False),
    ],
)
def test_conditions(condition: dict[str, Any], context: dict[str, tuple[str, ...]], expected: bool) -> None:
    assert allowed(_policy(_allow("s3:*", Condition=condition)), "s3:GetObject", "*", context) is expected


def test_the_report_names_denied_calls_unused_grants_and_odd_conditions() -> None:
    calls = [
        RecordedCall("triage", "dynamodb:PutItem", (_TABLE,), 3),
        RecordedCall("triage", "dynamodb:DeleteItem", (_TABLE,), 1),
        RecordedCall("operator", "iam:CreateRole", ("*",), 1),
    ]
    odd = _allow("s3:ListBucket", Condition={"DateGreaterThan": {"aws:CurrentTime": "2026"}})
    report = check(calls, {"triage": _policy(_allow(["dynamodb:PutItem", "dynamodb:Query"], _TABLE, Sid="Own"), odd)})
    assert [str(denied) for denied in report.denied] == [f"triage may not dynamodb:DeleteItem on {_TABLE} (1 calls)"]
    assert report.unused == [
        Grant("triage", "dynamodb:Query", _TABLE, "Own"),
        Grant("triage", "s3:ListBucket", "*"),
    ]
    assert report.unknown_conditions == ["DateGreaterThan"]


@given(text=st.text(alphabet="ab:*?/", max_size=10))
def test_a_star_covers_everything_and_a_plain_text_itself(text: str) -> None:
    assert like("*", text)
    assert like(text.replace("*", "?"), text)


OWN = "${ec2:SourceInstanceARN}"
INSTANCE = "arn:aws:ec2:us-east-1:1:instance/i-0a"
OWN_ITEMS = _allow(
    "dynamodb:Query", _TABLE, Condition={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"NODE#{OWN}"]}}
)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({"ec2:SourceInstanceARN": [INSTANCE], "dynamodb:LeadingKeys": [f"NODE#{INSTANCE}"]}, True),
        ({"ec2:SourceInstanceARN": [INSTANCE], "dynamodb:LeadingKeys": [f"NODE#{INSTANCE}b"]}, False),
        ({"dynamodb:LeadingKeys": [f"NODE#{INSTANCE}"]}, False),
        ({"dynamodb:LeadingKeys": [f"NODE#{OWN}"]}, False),
    ],
)
def test_a_variable_is_what_the_call_brings_and_without_it_nothing_is_allowed(
    context: dict[str, list[str]], expected: bool
) -> None:
    assert allowed(_policy(OWN_ITEMS), "dynamodb:Query", _TABLE, context) is expected


def test_a_variable_in_a_resource_is_filled_in_too() -> None:
    statement = _allow("s3:PutObject", f"arn:aws:s3:::evidence/nodes/{OWN}/*")
    mine, other = (f"arn:aws:s3:::evidence/nodes/{INSTANCE}{end}/x" for end in ("", "b"))
    context = {"ec2:SourceInstanceARN": [INSTANCE]}
    assert allowed(_policy(statement), "s3:PutObject", mine, context)
    assert not allowed(_policy(statement), "s3:PutObject", other, context)
    call = RecordedCall("r", "s3:PutObject", (mine,), 1, (("ec2:SourceInstanceARN", (INSTANCE,)),))
    assert check([call], {"r": _policy(statement)}).unused == []
