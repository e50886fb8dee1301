"""Principals survive the way through an access key and a credential scope."""

from hypothesis import given
from hypothesis import strategies as st

from local.aws.principals import access_key, credential_scope, principal_of, role_name, split_session


@given(principal=st.text(min_size=1))
def test_a_principal_comes_back_from_its_key(principal: str) -> None:
    assert principal_of(access_key(principal)) == principal
    assert "/" not in access_key(principal)


def test_a_foreign_key_speaks_for_itself() -> None:
    assert principal_of("AKIAEXAMPLE") == "AKIAEXAMPLE"
    assert principal_of("") == "anonymous"


def test_the_scope_is_read_from_a_header_and_from_a_presigned_query() -> None:
    key = access_key("Relight-Triage")
    header = f"AWS4-HMAC-SHA256 Credential={key}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host"
    query = f"X-Amz-Credential={key}%2F20260101%2Fus-east-1%2Fsts%2Faws4_request&X-Amz-Expires=60"
    assert credential_scope(header) == ("Relight-Triage", "us-east-1", "dynamodb")
    assert credential_scope(query) == ("Relight-Triage", "us-east-1", "sts")
    assert credential_scope("Bearer x") is None


def test_a_roles_name_is_the_last_part_of_its_arn() -> None:
    assert role_name("arn:aws:iam::1:role/path/Relight-Triage") == "Relight-Triage"


def test_a_session_follows_the_role_and_is_no_part_of_its_name() -> None:
    assert split_session("training-node/i-0abc") == ("training-node", "i-0abc")
    assert split_session("operator") == ("operator", "")
