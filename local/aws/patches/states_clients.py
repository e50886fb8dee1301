"""The AWS calls of a state machine are made under its role, by clients that are kept.

moto makes a new client for each task (some 50 ms of loading), under a key that says nothing of who calls.
"""

import sys
from typing import Any

from moto.stepfunctions.parser.asl.utils import boto_client

from local.aws import principals
from local.aws.clients import Clients

# A task may take as long as its own timeout; the HTTP client must not give up before it, nor try twice.
_OPTIONS = {"parameter_validation": False, "retries": {"total_max_attempts": 1}, "read_timeout": 24 * 3600}


def apply(endpoint: str, region: str) -> None:
    """Replace moto's maker of clients, in every module that has imported it."""
    clients = Clients(endpoint, region, _OPTIONS)

    def client_for(region: str, service: str, state_credentials: Any = None) -> Any:  # noqa: ARG001 - there is one
        role = principals.role_name(state_credentials.role_arn) if state_credentials else principals.ANONYMOUS
        return clients.get(service, role)

    original = boto_client.boto_client_for
    for module in list(sys.modules.values()):
        if getattr(module, "boto_client_for", None) is original:
            vars(module)["boto_client_for"] = client_for
