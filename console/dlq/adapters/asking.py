"""How AWS's refusals become errors for a person at a terminal: what failed, and what to do about it.

It must not retry: clients do (botocore).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConfigNotFound,
    ConfigParseError,
    CredentialRetrievalError,
    InvalidRegionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)

from console.answers import AnswerLostError, NotAwsError
from policies.contract.errors import DependencyError, RelightError

AGAIN = "Run it again; nothing was lost."
SIGN_IN = "Sign in first (aws sso login)."
SETTINGS = "See what you gave AWS: AWS_PROFILE, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ~/.aws/config."
NAMES = "Is what you named written right? AWS takes no such name."
NOT_AWS = "Nothing of it counts. Is it a proxy (HTTPS_PROXY), a network that wants you to sign in, or AWS_ENDPOINT_URL?"
UNKNOWN = "Look how it stands before you say it again"
RIGHTS = "docs/operations.md lists the rights that this command needs."
_DENIED = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"}
# Amazon DynamoDB, S3, CloudFormation and SQS, "Common errors" and "Error responses" of their API references.
_SLOWER = {
    *("Throttling", "ThrottlingException", "RequestLimitExceeded", "ProvisionedThroughputExceededException"),
    *("RequestThrottled", "TooManyRequestsException", "SlowDown"),
}
_UNFIT = {"ValidationException", "ValidationError", "InvalidParameterValue", "InvalidBucketName"}
_MISSING = {"ResourceNotFoundException", "NoSuchBucket"}
_EXPIRED = {
    "ExpiredToken",
    "ExpiredTokenException",
    "RequestExpired",
    "InvalidClientTokenId",
    "UnrecognizedClientException",
}


def error_code(error: ClientError) -> str:
    """Return AWS's word for what went wrong, without the ``AWS.SimpleQueueService.`` before older ones."""
    return str(error.response.get("Error", {}).get("Code", "")).rpartition(".")[2]


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Turn whatever AWS raises inside into a DependencyError that says *what* failed and what to do."""
    try:
        yield
    except ClientError as error:
        code = error_code(error)
        said = error.response.get("Error", {}).get("Message", "")
        raise DependencyError(f"{what} failed: {code}: {said}", hint=_hint(code)) from error
    except NoCredentialsError as error:
        raise DependencyError(f"{what} failed: no credentials.", hint=_without(error)) from error
    except NoRegionError as error:
        raise DependencyError(f"{what} failed: no region.", hint=_without(error)) from error
    except BotoCoreError as error:
        raise DependencyError(f"{what} failed: {str(error).removesuffix('.')}.", hint=_without(error)) from error


def advice(error: RelightError, see: str = "") -> str:
    """Return what a person should do: what AWS said decides, whoever called it; else the error's own hint.

    *see* is the command that shows whether what was sent has been written, where no answer told.
    """
    cause = error.__cause__
    if isinstance(cause, AnswerLostError) and see:
        return f"{UNKNOWN}: {see}."
    if isinstance(cause, ClientError):
        return _hint(error_code(cause))
    return _without(cause) if isinstance(cause, BotoCoreError) else error.hint


def _without(error: BotoCoreError) -> str:
    """Return what to do when no answer of AWS came at all."""
    return next((told for kinds, told in _TOLD if isinstance(error, kinds)), AGAIN)


_TOLD = (
    ((NoCredentialsError, SSOError, TokenRetrievalError, CredentialRetrievalError), SIGN_IN),
    ((PartialCredentialsError, ProfileNotFound, ConfigParseError, ConfigNotFound), SETTINGS),
    ((NoRegionError,), "Name it with --region, or set AWS_REGION."),
    ((InvalidRegionError,), "Is --region, or AWS_REGION, written right?"),
    ((ParamValidationError,), NAMES),
    ((NotAwsError,), NOT_AWS),
    ((AnswerLostError,), f"{UNKNOWN}."),
)


def refusal(error: Exception) -> str:
    """Return what AWS refused and what to do, where nobody on the way said it; empty of what is none of AWS's."""
    if isinstance(error, ClientError):
        return f"{error} {_hint(error_code(error))}"
    return f"{str(error).removesuffix('.')}. {_without(error)}" if isinstance(error, BotoCoreError) else ""


def _hint(code: str) -> str:
    if code in _DENIED:
        return RIGHTS
    if code in _EXPIRED:
        return "Your credentials are no longer good: sign in again (aws sso login)."
    if code in _SLOWER:
        return f"AWS asks for less at a time: wait a minute. {AGAIN}"
    if code in _UNFIT:
        return NAMES
    if code in _MISSING:
        return "Is it the right name, account and region (--region, AWS_REGION)?"
    return AGAIN
