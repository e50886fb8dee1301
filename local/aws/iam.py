"""Whether a role's own policies allow what was called under it, and which of its grants were never used.

The small part of IAM that the templates here need: identity policies with Allow and Deny, wildcards, conditions
(see iam_conditions). No permission boundaries, no resource policies, no session policies.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from local.aws import iam_conditions
from local.aws.iam_conditions import ContextValues
from local.aws.recorder_types import RecordedCall
from local.aws.server import EmbeddedAws

Policy = Mapping[str, Any]
Statement = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Denied:
    """A call that the role's policies do not allow, on one resource."""

    call: RecordedCall
    resource: str

    def __str__(self) -> str:
        context = "".join(f", {key}={'|'.join(values)}" for key, values in self.call.context)
        return f"{self.call.principal} may not {self.call.action} on {self.resource}{context} ({self.call.count} calls)"


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """One action on one resource that a statement allows, as the policy writes them."""

    role: str
    action: str
    resource: str
    sid: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run shows about roles: calls they do not allow, grants nobody used, conditions nobody can evaluate."""

    denied: list[Denied]
    unused: list[Grant]
    unknown_conditions: list[str]


def allowed(role_policies: Sequence[Policy], action: str, resource: str, context: ContextValues | None = None) -> bool:
    """Whether policy documents allow an action (`s3:GetObject`) on a resource (ARN or `*`).

    An unknown condition operator allows nothing.
    """
    verdict = False
    for statement in _statements(role_policies):
        if not _applies(statement, action, resource, context or {}):
            continue
        if statement["Effect"] == "Deny":
            return False
        verdict = True
    return verdict


def check(recorded: Sequence[RecordedCall], roles: Mapping[str, Sequence[Policy]]) -> Report:
    """Hold recorded calls against roles (name → policy documents). Calls of other principals are not looked at."""
    mine = [call for call in recorded if call.principal in roles]
    denied = [
        Denied(call, resource)
        for call in mine
        for resource in call.resources
        if not allowed(roles[call.principal], call.action, resource, dict(call.context))
    ]
    unused = [grant for grant in grants_of(roles) if not any(_uses(call, grant) for call in mine)]
    operators = {
        operator
        for policies in roles.values()
        for statement in _statements(policies)
        for operator in statement.get("Condition", {})
        if not iam_conditions.is_known(operator)
    }
    return Report(denied, unused, sorted(operators))


def roles_of(aws: EmbeddedAws, stack: str, *others: str) -> dict[str, list[Policy]]:
    """The roles of a deployed stack, and *others* by name, with all their policies, intrinsic functions resolved."""
    resources = aws.client("cloudformation").describe_stack_resources(StackName=stack)["StackResources"]
    names = [each["PhysicalResourceId"] for each in resources if each["ResourceType"] == "AWS::IAM::Role"]
    return {name: _documents(aws.client("iam"), name) for name in (*names, *others)}


def _documents(client: Any, role: str) -> list[Policy]:
    inline = client.list_role_policies(RoleName=role)["PolicyNames"]
    documents = [client.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"] for name in inline]
    for attached in client.list_attached_role_policies(RoleName=role)["AttachedPolicies"]:
        arn = attached["PolicyArn"]
        version = client.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        documents.append(client.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"])
    return documents


def _statements(policies: Sequence[Policy]) -> Iterator[Statement]:
    for policy in policies:
        yield from _each(policy["Statement"])


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _applies(statement: Statement, action: str, resource: str, context: ContextValues) -> bool:
    return (
        _selected(statement, "Action", action.lower(), {}, lower=True)
        and _selected(statement, "Resource", resource, context)
        and iam_conditions.hold(statement.get("Condition", {}), context)
    )


def _selected(statement: Statement, name: str, value: str, context: ContextValues, *, lower: bool = False) -> bool:
    """Whether Action or NotAction (Resource or NotResource) of a statement covers a value."""
    negative = f"Not{name}" in statement
    written = _each(statement.get(f"Not{name}" if negative else name, []))
    patterns = [filled for one in written if (filled := iam_conditions.fill_in(one, context)) is not None]
    found = any(like(pattern.lower() if lower else pattern, value) for pattern in patterns)
    return found is not negative


def like(pattern: str, value: str) -> bool:
    """IAM's wildcards: `*` any text, `?` any character."""
    return _compiled(pattern).fullmatch(value) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern), re.DOTALL)


def grants_of(roles: Mapping[str, Sequence[Policy]]) -> list[Grant]:
    """Everything that these roles allow, one action on one resource each."""
    return sorted(
        {
            Grant(role, action, resource, statement.get("Sid", ""))
            for role, policies in roles.items()
            for statement in _statements(policies)
            if statement["Effect"] == "Allow"
            for action in _each(statement.get("Action", []))
            for resource in _each(statement.get("Resource", "*"))
        }
    )


def _uses(call: RecordedCall, grant: Grant) -> bool:
    filled = iam_conditions.fill_in(grant.resource, dict(call.context))
    return (
        filled is not None
        and call.principal == grant.role
        and like(grant.action.lower(), call.action.lower())
        and any(like(filled, resource) for resource in call.resources)
    )
