"""A role with the rights written for it and no others, and the answer to cdk-nag for each wildcard in them.

Decides nothing about what is allowed (`permissions/` does).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.answers import acknowledge
from infra.permissions.grants import Right


def role(scope: Construct, service: str, description: str, rights: Sequence[Right]) -> iam.Role:
    """Return the role of *scope*, assumed by *service*. Its policy is inline: one role, one list of rights."""
    made = iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal(service),
        description=description,
        inline_policies={"own": iam.PolicyDocument(statements=[right.statement for right in rights])},
    )
    acknowledge(made, dict(wildcards(Stack.of(scope), rights)))
    return made


def wildcards(stack: Stack, rights: Sequence[Right]) -> Iterator[tuple[str, str]]:
    """Yield what cdk-nag asks about the wildcards of *rights*, and the answer to it."""
    for right in rights:
        for resource in right.statement.resources:
            shown = _show(stack.resolve(resource))
            if "*" in shown and right.why:
                yield f"IAM5[Resource::{shown}]", right.why


def _show(resource: Any) -> str:  # noqa: ANN401 - a resolved token is JSON of any shape
    """Return a resource as cdk-nag writes it: references and variables in angle brackets."""
    match resource:
        case {"Fn::Join": [str(separator), list(parts)]}:
            return separator.join(map(_show, parts))
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return f"<{name}.{attribute}>"
        case {"Ref": str(name)}:
            return f"<{name}>"
    return re.sub(r"\$\{([^}]+)\}", r"<\1>", str(resource))
