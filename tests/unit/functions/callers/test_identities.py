"""Whoever called is told in words for people; what identifies a key never is."""

from typing import Any

import pytest

from functions.callers.identities import role_of, who
from tests.tools.trail import ACCOUNT, session

PIPELINE = session("run-4711", "deploy")
CHAINED = {**PIPELINE, "sessionContext": {**PIPELINE["sessionContext"], "sourceIdentity": "kim"}}


@pytest.mark.parametrize(
    ("identity", "told"),
    [
        (session(), "kim@example.com (SSO Admin)"),
        (session("kim", "AWSReservedSSO_Power_User_0123456789abcdef"), "kim (SSO Power_User)"),
        (PIPELINE, "run-4711 (role deploy)"),
        (CHAINED, "kim (role deploy)"),
        ({**PIPELINE, "accountId": "444455556666"}, "run-4711 (role deploy, account 444455556666)"),
        ({"type": "AssumedRole", "arn": "arn:aws:sts::1:assumed-role/ops/ann"}, "ann (role ops)"),
        (
            {"type": "AssumedRole", "arn": "arn:aws:sts::1:assumed-role/users", "principalId": "X:bob"},
            "bob (role users)",
        ),
        ({"type": "IAMUser", "userName": "Alice", "arn": "arn:aws:iam::1:user/Alice"}, "Alice"),
        ({"type": "IAMUser", "arn": "arn:aws:iam::1:user/team/Alice"}, "Alice"),
        ({"type": "Root", "arn": "arn:aws:iam::1:root"}, "root"),
        ({"type": "FederatedUser", "arn": "arn:aws:sts::1:federated-user/Bo"}, "Bo (federated)"),
        (
            {"type": "AWSAccount", "principalId": "AROAEXAMPLE:eve", "accountId": "4444"},
            "eve (AWSAccount, account 4444)",
        ),
        ({"type": "AWSService", "invokedBy": "backup.amazonaws.com"}, "backup.amazonaws.com (AWS service)"),
        ({"type": "IdentityCenterUser", "onBehalfOf": {"userId": "94482488"}}, "94482488 (Identity Center)"),
        ({"type": "WebIdentityUser", "userName": "ci"}, "ci (WebIdentityUser)"),
        ({}, "somebody"),
        ({"type": "AssumedRole", "sessionContext": "junk", "arn": 7}, "somebody"),
        ({"type": "Root", "onBehalfOf": [1]}, "root"),
    ],
)
def test_a_caller_is_told_by_name_and_by_what_it_is_the_name_of(identity: dict[str, Any], told: str) -> None:
    assert who(identity, ACCOUNT) == told


def test_no_access_key_is_told_wherever_it_stands() -> None:
    key = "AKIAIOSFODNN7EXAMPLE"
    for identity in (
        {"type": "AssumedRole", "principalId": f"{key}:bob", "accessKeyId": key},
        {"type": "AWSAccount", "principalId": key},
        session(f"botocore-{key}"),
        {"type": "IAMUser", "userName": key},
    ):
        assert "AKIA" not in who(identity, ACCOUNT)


def test_the_role_behind_a_session_is_its_issuer() -> None:
    assert role_of(session()) == f"arn:aws:iam::{ACCOUNT}:role/AWSReservedSSO_Admin_0123456789abcdef"
    for without in ({}, {"sessionContext": 1}, {"sessionContext": {"sessionIssuer": "x"}}):
        assert role_of(without) == ""
