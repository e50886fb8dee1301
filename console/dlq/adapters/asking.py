"""How AWS's refusals become errors for a person at a terminal: what failed, and what to do about it.

It must not retry: clients do (botocore).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, NoRegionError

from policies.contract.errors import DependencyError, RelightError

RIGHTS = "docs/operations.md lists the rights that this command needs."
_DENIED = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"}
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
        raise DependencyError(f"{what} failed: no credentials.", hint="Sign in first (aws sso login).") from error
    except NoRegionError as error:
        raise DependencyError(f"{what} failed: no region.", hint="Name it with --region, or set AWS_REGION.") from error
    except BotoCoreError as error:
        raise DependencyError(f"{what} failed: {error}.", hint="Run it again; nothing was lost.") from error


def advice(error: RelightError) -> str:
    """Return what a person should do: AWS's code decides where AWS refused, whoever called it; else the error's own."""
    cause = error.__cause__
    return _hint(error_code(cause)) if isinstance(cause, ClientError) else error.hint


def _hint(code: str) -> str:
    if code in _DENIED:
        return RIGHTS
    if code in _EXPIRED:
        return "Your credentials are no longer good: sign in again (aws sso login)."
    return "Run it again; nothing was lost."
