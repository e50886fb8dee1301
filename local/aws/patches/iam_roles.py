"""A role has the policies that its template gives it, as JSON.

moto keeps an inline policy of a template as a Python object (GetRolePolicy then answers text that is not JSON), and
ignores ManagedPolicyArns.
"""

import json
from typing import Any

from moto.core.config import default_user_config
from moto.iam.models import Role, iam_backends

from local.aws import backends
from local.aws.patches.replacing import Make, around_creation, replace


def apply() -> None:
    default_user_config["iam"]["load_aws_managed_policies"] = True
    original = Role.put_policy

    def put_policy(self: Any, policy_name: str, policy_json: Any) -> None:
        text = policy_json if isinstance(policy_json, str) else json.dumps(policy_json)
        original(self, policy_name, text)

    replace(Role, "put_policy", put_policy)
    around_creation(Role, _create)


def _create(make: Make, name: str, resource: dict[str, Any], _region: str) -> Any:
    role = make(name, resource)
    for arn in resource["Properties"].get("ManagedPolicyArns", []):
        iam_backends[backends.ACCOUNT]["aws"].attach_role_policy(arn, role.name)
    return role
