"""Who a call's ``userIdentity`` is, in words for people. Pure.

The forms are those of the CloudTrail user guide, "CloudTrail userIdentity element". A session's name is what whoever
assumed the role chose: IAM Identity Center puts the person's name there, a pipeline its own. Identifiers of keys are
never told: not the field `accessKeyId`, and nothing that looks like one.
"""

import re
from collections.abc import Mapping
from typing import Any

NOBODY = "somebody"
_LONGEST = 200
# "AWSReservedSSO_<permission set>_<16 digits>" (IAM Identity Center user guide, "Referencing permission sets in
# resource policies").
_SSO = re.compile(r"AWSReservedSSO_(?P<set>.+)_[0-9a-fA-F]{8,}$")
# "AKIA" long-term, "ASIA" temporary access keys (IAM user guide, "Understanding unique ID prefixes").
_KEY = re.compile(r"\bA(?:KIA|SIA)[A-Z0-9]{8,}\b")


def who(identity: Mapping[str, Any], account: str) -> str:
    """Return who made a call in *account*: ``kim@example.com (SSO AdministratorAccess)``, ``kim``, ``root``."""
    name, means = _named(identity)
    other = _text(identity.get("accountId"))
    foreign = f"account {other}" if other and account and other != account else ""
    told = ", ".join(each for each in (means, foreign) if each)
    return f"{name}{f' ({told})' if told else ''}"[:_LONGEST]


def role_of(identity: Mapping[str, Any]) -> str:
    """Return the ARN of the role that a session belongs to, "" where there is none."""
    session = identity.get("sessionContext")
    issuer = session.get("sessionIssuer") if isinstance(session, Mapping) else None
    return _text(issuer.get("arn")) if isinstance(issuer, Mapping) else ""


def _named(identity: Mapping[str, Any]) -> tuple[str, str]:
    """Return a name, and what it is the name of."""
    arn, user = _text(identity.get("arn")), _text(identity.get("userName"))
    # <id of the principal>:<name of the session>, where a role is assumed.
    session = _text(identity.get("principalId")).partition(":")[2]
    kind = _text(identity.get("type"))
    behalf = identity.get("onBehalfOf")
    named = {
        "Root": ("root", ""),
        "IAMUser": (user or _last(arn), ""),
        "FederatedUser": (_last(arn) or session, "federated"),
        "IdentityCenterUser": (_text(behalf.get("userId")) if isinstance(behalf, Mapping) else "", "Identity Center"),
        "AWSService": (_text(identity.get("invokedBy")), "AWS service"),
    }
    if kind == "AssumedRole":
        return _session(identity, arn, session)
    name, means = named.get(kind, (user or _last(arn) or session, kind))
    return name or NOBODY, means


def _session(identity: Mapping[str, Any], arn: str, session: str) -> tuple[str, str]:
    """Return the session's name and its role; a source identity outlives a chain of roles and cannot be changed."""
    # arn:aws:sts::111122223333:assumed-role/<role>/<session>
    parts = arn.rpartition(":")[2].split("/")
    full = len(parts) > 2  # noqa: PLR2004 - assumed-role, role, session
    role = _last(role_of(identity)) or (parts[1] if len(parts) > 1 else "")
    context = identity.get("sessionContext")
    source = _text(context.get("sourceIdentity")) if isinstance(context, Mapping) else ""
    name = source or (parts[-1] if full else "") or session or NOBODY
    sso = _SSO.match(role)
    return name, f"SSO {sso['set']}" if sso else f"role {role}" if role else ""


def _last(arn: str) -> str:
    return arn.rpartition("/")[2]


def _text(value: object) -> str:
    return _KEY.sub("…", value) if isinstance(value, str) else ""
