"""What the SDK leaves behind, and its errors in our words."""

import subprocess
import sys
from pathlib import Path

import pytest
from botocore.exceptions import (
    ClientError,
    CredentialRetrievalError,
    EndpointConnectionError,
    NoCredentialsError,
    PartialCredentialsError,
)
from moto import mock_aws

from agent.sdk import error_code, explain_refusal, is_denied, make_client

# endpoints.json alone tells of each partition which services it has.
LEFT = """
import gc
from agent.sdk import make_client
first = make_client("kinesis", "us-east-1", connect=1, read=1)
left = [one for one in gc.get_objects() if isinstance(one, dict) and {"services", "regions", "partition"} <= one.keys()]
assert not left, f"{len(left)} partitions of the table of all services are still held"
assert first.meta.region_name == "us-east-1"
"""


def answer(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": ""}}, "PutRecord")


def test_of_the_tables_of_all_services_nothing_is_left_in_memory() -> None:
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", LEFT], check=True, timeout=120, cwd=root)


def test_a_client_loads_again_what_it_needs_later() -> None:
    with mock_aws():
        client = make_client("sqs", "us-east-1", connect=1, read=1)
        client.create_queue(QueueName="one")
        assert [len(page["QueueUrls"]) for page in client.get_paginator("list_queues").paginate()] == [1]


@pytest.mark.parametrize(("code", "denied"), [("AccessDenied", True), ("ThrottlingException", False)])
def test_an_answer_is_told_by_its_code(code: str, denied: bool) -> None:
    error = answer(code)
    assert (error_code(error), is_denied(error)) == (code, denied)
    assert code in explain_refusal("Kinesis", error).message


def test_no_answer_has_no_code_and_is_not_a_denial() -> None:
    error = EndpointConnectionError(endpoint_url="https://kinesis")
    assert (error_code(error), is_denied(error)) == ("", False)
    assert "not reached" in explain_refusal("Kinesis", error).message


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (NoCredentialsError(), "there are no credentials"),
        (PartialCredentialsError(provider="env", cred_var="AWS_SECRET_ACCESS_KEY"), "AWS_SECRET_ACCESS_KEY"),
        (CredentialRetrievalError(provider="container-role", error_msg="timed out"), "container-role"),
    ],
)
def test_who_has_no_credentials_is_not_sent_to_the_network(error: Exception, says: str) -> None:
    told = explain_refusal("Kinesis", error)
    assert says in told.message
    assert "not reached" not in told.message
    assert "instance profile" in told.hint
    assert not is_denied(error)


def test_credentials_that_are_no_longer_good_are_called_so() -> None:
    assert "credentials are not good any more" in explain_refusal("Kinesis", answer("ExpiredTokenException")).hint


def test_an_error_that_is_not_the_sdks_is_a_bug_and_goes_on_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        explain_refusal("Kinesis", ZeroDivisionError())
