from collections.abc import Callable

import pytest
from botocore.exceptions import (
    ClientError,
    ConfigParseError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    InvalidRegionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOTokenLoadError,
    TokenRetrievalError,
    UnauthorizedSSOTokenError,
)

from console.dlq.adapters.asking import RIGHTS, advice, asking
from functions.adapters.aws import calling
from policies.contract.errors import DependencyError


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "Anything")


def raised(error: Exception, around: Callable[[str], object] = asking) -> DependencyError:
    with pytest.raises(DependencyError) as caught, around("looking"):  # type: ignore[attr-defined]
        raise error
    return caught.value


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (refused("AccessDenied"), RIGHTS),
        (refused("AWS.SimpleQueueService.AccessDeniedException"), RIGHTS),
        (refused("ExpiredToken"), "sign in again"),
        (refused("Throttling"), "Run it again"),
        (refused("ProvisionedThroughputExceededException"), "wait a minute"),
        (refused("SlowDown"), "wait a minute"),
        (refused("ValidationException"), "written right"),
        (SSOTokenLoadError(error_msg="no token"), "Sign in first"),
        (UnauthorizedSSOTokenError(), "Sign in first"),
        (TokenRetrievalError(provider="sso", error_msg="expired"), "Sign in first"),
        (CredentialRetrievalError(provider="process", error_msg="failed"), "Sign in first"),
        (ProfileNotFound(profile="nope"), "AWS_PROFILE"),
        (PartialCredentialsError(provider="env", cred_var="AWS_SECRET_ACCESS_KEY"), "AWS_SECRET_ACCESS_KEY"),
        (ConfigParseError(path="config"), "~/.aws/config"),
        (InvalidRegionError(region_name="eu west"), "AWS_REGION, written right"),
        (ParamValidationError(report="a bucket has a name"), "written right"),
        (ConnectTimeoutError(endpoint_url="http://127.0.0.1:1"), "Run it again"),
        (refused("ResourceNotFoundException"), "right name, account and region"),
        (NoCredentialsError(), "Sign in first"),
        (NoRegionError(), "set AWS_REGION"),
        (EndpointConnectionError(endpoint_url="http://127.0.0.1:1"), "Run it again"),
    ],
)
def test_every_refusal_says_what_to_do(error: Exception, told: str) -> None:
    caught = raised(error)
    assert caught.message.startswith("looking failed: ")
    assert told in caught.hint
    assert advice(caught) == caught.hint


def test_an_adapter_made_for_functions_speaks_to_a_person_too() -> None:
    caught = raised(refused("AccessDeniedException"), around=calling)
    assert "role" in caught.hint
    assert advice(caught) == RIGHTS


def test_what_came_without_an_answer_speaks_to_a_person_too() -> None:
    assert "Sign in first" in advice(raised(NoCredentialsError(), around=calling))
    assert "AWS_REGION" in advice(raised(NoRegionError(), around=calling))


def test_an_error_of_our_own_keeps_its_hint() -> None:
    assert advice(DependencyError("gone.", hint="Look elsewhere.")) == "Look elsewhere."


def test_what_aws_said_is_told_once() -> None:
    for around in (asking, calling):
        told = raised(refused("Throttling"), around=around).message
        assert told.count("Throttling") == 1
        assert told.startswith("looking failed: Throttling: no")
