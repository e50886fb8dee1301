"""Who is asking, and what that identity may do: EKS tokens and RBAC rules.

An EKS token is a presigned GetCallerIdentity: `k8s-aws-v1.` + unpadded base64url of the address, which must sign the
headers `host` and `x-k8s-aws-id` and live 60 s (aws-iam-authenticator, `pkg/token`). Nothing here checks a signature;
the shape is checked, since a token of the wrong shape is the usual fault.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from local.aws.principals import credential_scope
from local.kubernetes.errors import StatusError, forbidden, unauthorized
from local.kubernetes.routes import Target

_PREFIX = "k8s-aws-v1."
_LONGEST_LIFE_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a ClusterRole. `resources` may name subresources: `pods/eviction`; `*` is anything."""

    groups: tuple[str, ...]
    resources: tuple[str, ...]
    verbs: tuple[str, ...]

    def allows(self, verb: str, target: Target) -> bool:
        plural = target.kind.plural + (f"/{target.subresource}" if target.subresource else "")
        asked = ((self.groups, target.kind.group), (self.resources, plural), (self.verbs, verb))
        return all("*" in known or value in known for known, value in asked)


@dataclass(frozen=True, slots=True)
class Access:
    """`tokens` are static bearer tokens with full rights; `rules` are what identities from AWS may do."""

    tokens: Mapping[str, str]
    rules: tuple[Rule, ...] = ()

    def identify(self, header: str) -> str:
        """The name of who sends this Authorization header; Unauthorized when it is not one."""
        scheme, _, token = header.partition(" ")
        if scheme != "Bearer" or not token:
            raise unauthorized("no bearer token")
        if token in self.tokens:
            return self.tokens[token]
        if token.startswith(_PREFIX):
            return f"aws:{_principal(token)}"
        raise unauthorized("the bearer token is neither known nor one of EKS")

    def check(self, who: str, verb: str, target: Target) -> None:
        """Forbidden unless *who* may do this."""
        if who in self.tokens.values() or any(rule.allows(verb, target) for rule in self.rules):
            return
        raise _refused(who, verb, target)


def _refused(who: str, verb: str, target: Target) -> StatusError:
    plural = target.kind.plural + (f"/{target.subresource}" if target.subresource else "")
    return forbidden(
        f'{plural} "{target.name}" is forbidden: User "{who}" cannot {verb} resource "{plural}" '
        f'in API group "{target.kind.group}"'
    )


def _principal(token: str) -> str:
    try:
        text = token.removeprefix(_PREFIX)
        address = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise unauthorized("the EKS token is not base64url") from None
    query = {key.lower(): values[0] for key, values in parse_qs(urlsplit(address).query).items()}
    if query.get("action") != "GetCallerIdentity":
        raise unauthorized("the EKS token does not presign GetCallerIdentity")
    if "x-k8s-aws-id" not in query.get("x-amz-signedheaders", "").split(";"):
        raise unauthorized("the EKS token does not sign x-k8s-aws-id")
    if int(query.get("x-amz-expires", "0")) > _LONGEST_LIFE_SECONDS:
        raise unauthorized("the EKS token lives too long")
    scope = credential_scope(f"Credential={query.get('x-amz-credential', '')}")
    if scope is None or scope[2] != "sts":
        raise unauthorized("the EKS token is not signed for sts")
    return scope[0]
