"""Who makes a call: a principal's name travels as the access key id, since nothing here checks a signature.

Shapes: `operator`, a role's name (`Relight-TriageRole-4X`), or any text that a caller invents for itself. A role's name
may be followed by a slash and a session, as in an assumed role's ARN: `training-node/i-0abc` is the node role with the
credentials of that instance.
"""

import base64
import binascii
import re

_PREFIX = "RELIGHT"
# The credential scope of Signature Version 4, in the Authorization header or in a presigned address.
_CREDENTIAL = re.compile(r"Credential=([^,&\s]+)")

ANONYMOUS = "anonymous"


def access_key(principal: str) -> str:
    """The access key id under which this principal signs."""
    return _PREFIX + base64.b32encode(principal.encode()).decode().rstrip("=")


def principal_of(key: str) -> str:
    """The principal behind an access key id; a key that is not ours speaks for itself."""
    if not key.startswith(_PREFIX):
        return key or ANONYMOUS
    text = key.removeprefix(_PREFIX)
    try:
        return base64.b32decode(text + "=" * (-len(text) % 8)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return key


def credential_scope(signed: str) -> tuple[str, str, str] | None:
    """(principal, region, service) from an Authorization header or a presigned query; None when unsigned."""
    found = _CREDENTIAL.search(signed.replace("%2F", "/"))
    if found is None:
        return None
    parts = found[1].split("/")
    if len(parts) != 5:  # noqa: PLR2004 - key/date/region/service/aws4_request
        return None
    return principal_of(parts[0]), parts[2], parts[3]


def split_session(principal: str) -> tuple[str, str]:
    """(principal, session); a principal without one has an empty session."""
    role, _, session = principal.partition("/")
    return role, session


def role_name(arn: str) -> str:
    """The name of a role from its ARN (paths fall away, as they do in an assumed role's ARN)."""
    return arn.rsplit("/", 1)[-1]
