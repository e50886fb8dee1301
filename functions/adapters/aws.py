"""How the answers of AWS become errors of ours: what a later try may cure is a DependencyError, naming the call.

It must not retry: clients do (botocore), then whoever called the function does.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from policies.contract.errors import DependencyError

CONDITION_FAILED = "ConditionalCheckFailedException"  # of a conditional write: the item is not as it was read


def error_code(error: ClientError) -> str:
    """Return AWS's word for what went wrong."""
    return str(error.response.get("Error", {}).get("Code", ""))


@contextmanager
def calling(what: str) -> Iterator[None]:
    """Turn whatever AWS raises inside into a DependencyError that says *what* failed."""
    try:
        yield
    except ClientError as error:
        code = error_code(error)
        said = str(error.response.get("Error", {}).get("Message") or error).removesuffix(".")
        raise DependencyError(f"{what} failed: {code}: {said}.", hint=_hint(code)) from error
    except BotoCoreError as error:
        raise DependencyError(f"{what} failed: {error}.", hint="It is tried again.") from error


def _hint(code: str) -> str:
    if code in {"AccessDeniedException", "AccessDenied", "UnauthorizedOperation"}:
        return "The function's role lacks the right: compare infra/permissions with this call."
    if code in {"ResourceNotFoundException", "StateMachineDoesNotExist"}:
        return "The function's environment names what is not there: deploy again."
    return "It is tried again."
