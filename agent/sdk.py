"""The AWS SDK: loaded late, kept small, and its errors in our words.

It is loaded when the first client is made, on the thread that needs it: reading the kernel's log never waits for it.
Deadlines are the caller's and the SDK's own retries are off, since whoever asks decides when to try again. boto3 is
botocore and resources that nobody here uses, so botocore makes the clients. Making one reads tables of all services and
regions, some 8 MiB of the 80 that the agent promises; what the client does not need of them is let go of. It must not
know what is sent.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from agent.memory import give_back
from policies.contract.errors import DependencyError

if TYPE_CHECKING:
    from botocore.loaders import Loader

# The policy that the stack gives out for nodes lets an agent put and ask nothing: such an answer is no failure.
_DENIED = frozenset({"AccessDenied", "AccessDeniedException"})
# The service knows the credentials not at all, or no more.
_NOT_TAKEN = frozenset({
    *("ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId"),
    *("InvalidSignatureException", "SignatureDoesNotMatch", "UnrecognizedClientException"),
})  # fmt: skip
_STALE = "Its credentials are not good any more, or the node's clock is wrong: check both."
_NONE = "Give the node an instance profile, or the pod a role, and let it reach the instance's metadata (hop limit 2)."
_one_at_a_time = threading.Lock()  # what the SDK registers while it makes a client is no thread's own


class _Tables:
    """The SDK's loader of tables; `forget` lets go of what was loaded; what is asked for later is loaded again."""

    def __init__(self) -> None:
        self._loader = _loader()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the SDK asks of its loader
        return getattr(self._loader, name)

    def forget(self) -> None:
        self._loader = _loader()


def _loader() -> Loader:
    from botocore.loaders import Loader  # noqa: PLC0415 - see the module's docstring

    return Loader()


def make_client(service: str, region: str, *, connect: float, read: float, at_once: int = 1) -> Any:  # noqa: ANN401 - a client's methods are made of its service's table
    """Return a client of *service* that tries once: *connect* and *read* seconds long, *at_once* calls at a time."""
    from botocore.config import Config  # noqa: PLC0415 - see the module's docstring
    from botocore.session import Session  # noqa: PLC0415 - as above

    config = Config(
        connect_timeout=connect,
        read_timeout=read,
        retries={"total_max_attempts": 1},
        max_pool_connections=at_once,
        tcp_keepalive=True,
    )
    with _one_at_a_time:
        session, tables = Session(), _Tables()
        session.register_component("data_loader", tables)
        client = session.create_client(service, region_name=region, config=config)
        tables.forget()
        del session
        give_back()
    return client


def is_denied(error: Exception) -> bool:
    """Tell whether the service answered, namely that this role may not ask."""
    return error_code(error) in _DENIED


def error_code(error: Exception) -> str:
    """Return the code in a service's answer; empty for an error that is no answer."""
    from botocore.exceptions import ClientError  # noqa: PLC0415 - see the module's docstring

    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else ""


def explain_refusal(service: str, error: Exception) -> DependencyError:
    """Return *error* of the SDK as ours; an error that is not the SDK's is a bug and goes on as it is."""
    from botocore.exceptions import (  # noqa: PLC0415 - as above
        BotoCoreError,
        ClientError,
        CredentialRetrievalError,
        HTTPClientError,
        NoCredentialsError,
        PartialCredentialsError,
    )

    if isinstance(error, ClientError):
        code = error_code(error) or "an error"
        hint = _STALE if code in _NOT_TAKEN else "Check the node's role, the name and the region."
        return DependencyError(f"{service} answers {code}.", hint=hint)
    if isinstance(error, NoCredentialsError | PartialCredentialsError | CredentialRetrievalError):
        found = "there are no credentials" if isinstance(error, NoCredentialsError) else str(error).rstrip(".")
        return DependencyError(f"{service} was not asked: {found}.", hint=_NONE)
    if isinstance(error, BotoCoreError | HTTPClientError):
        kind = type(error).__name__
        return DependencyError(f"{service} is not reached ({kind}).", hint="Check the network, the endpoint, the role.")
    raise error
