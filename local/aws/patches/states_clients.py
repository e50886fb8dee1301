"""The AWS calls of a state machine are made under its role, by clients that are kept.

moto makes a new client for each task (some 50 ms of loading), under a key that says nothing of who calls.
"""

import functools
import sys
from typing import Any

import boto3
from botocore.config import Config
from moto.stepfunctions.parser.asl.utils import boto_client

from local.aws import principals

# A task may take as long as its own timeout; the HTTP client must not give up before it.
_READ_SECONDS = 24 * 3600


def apply(endpoint: str) -> None:
    """Replace moto's maker of clients, in every module that has imported it."""

    @functools.cache
    def client(service: str, region: str, role: str) -> Any:
        return boto3.client(
            service,  # type: ignore[call-overload]
            region_name=region,
            endpoint_url=endpoint,
            aws_access_key_id=principals.access_key(role),
            aws_secret_access_key="not-checked",  # noqa: S106 - nothing here checks a signature
            config=Config(
                parameter_validation=False,
                retries={"total_max_attempts": 1},
                read_timeout=_READ_SECONDS,
                max_pool_connections=100,
            ),
        )

    def client_for(region: str, service: str, state_credentials: Any = None) -> Any:
        role = principals.role_name(state_credentials.role_arn) if state_credentials else principals.ANONYMOUS
        return client(service, region, role)

    original = boto_client.boto_client_for
    for module in list(sys.modules.values()):
        if getattr(module, "boto_client_for", None) is original:
            vars(module)["boto_client_for"] = client_for
