"""What DynamoDB answers to a write of policies under a condition. It must not know which items these are."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import ClientError

from functions.adapters.aws import CONDITION_FAILED, calling, error_code
from functions.ports.policies import EditedMeanwhileError
from policies.contract.errors import DependencyError


@contextmanager
def conditionally(what: str) -> Iterator[None]:
    """Turn whatever AWS raises inside into a DependencyError, and a condition that fails into EditedMeanwhileError."""
    try:
        with calling(what):
            yield
    except DependencyError as error:
        if _code(error) == CONDITION_FAILED:
            raise EditedMeanwhileError(f"{what}: somebody wrote it meanwhile.", hint="It is read again.") from error
        raise


def is_too_large(error: DependencyError) -> bool:
    """Whether *error* says that an item would become larger than DynamoDB takes."""
    return _code(error) == "ValidationException" and "tem size" in str(error)


def _code(error: DependencyError) -> str:
    return error_code(error.__cause__) if isinstance(error.__cause__, ClientError) else ""
