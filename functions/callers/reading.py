"""Reads a call that wrote policies from what EventBridge hands on of CloudTrail. Pure.

One event, shortened (DynamoDB developer guide, "Understanding DynamoDB log file entries": `PutItem`)::

    {"detail-type": "AWS API Call via CloudTrail", "source": "aws.dynamodb", "account": "111122223333",
     "detail": {"userIdentity": {"type": "AssumedRole", "arn": "arn:aws:sts::…:assumed-role/…/kim@example.com", …},
                "eventTime": "2026-11-30T03:12:09Z", "eventName": "PutItem", "eventID": "a954451c-…",
                "userAgent": "…", "requestParameters": {"tableName": "…",
                    "key": {"name": "xid-79-…", "sk": "live"}, "item": ["name", "sk", "mode"]}}}

Of an item only its key and the names of its attributes are there; a call that failed has an `errorCode`. A transaction
has a list of `requestItems`, each with its `key` (now and then `Key`); PartiQL has a `statement`, values redacted.
A batch has no example in the guide: keys are looked for wherever they stand.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from functions import clients
from functions.adapters.policy_calls import PREFIX
from functions.adapters.policy_items import LISTING, REVISION_PREFIX
from functions.callers.identities import role_of, who
from functions.ports.calls import ANY, Call, Way
from policies.contract.times import parse_time

APPLICATION = f"app/{clients.APPLICATION}"
"""What the user agent of our own clients holds."""

_MOST_DEPTH = 6
_LONGEST = 100  # characters of at most four bytes: id and item stand in a sort key, which has room for 1,024


class UnreadableError(ValueError):
    """It is no event of a call in CloudTrail's form."""


@dataclass(frozen=True)
class Reading:
    """One event: the calls that it tells of, one for each item, and the role that made them ("" for none)."""

    calls: Sequence[Call]
    role: str = ""


def read(body: str) -> Reading:
    """Return what *body* tells; without calls where nothing of a policy was written. UnreadableError."""
    try:
        event = _writable(json.loads(body))
        detail, identity = event["detail"], event["detail"]["userIdentity"]
        told = Call(
            id=str(detail["eventID"])[:_LONGEST],
            at=parse_time(detail["eventTime"]).replace(microsecond=0),
            policy=ANY,
            item="",
            by=who(identity, str(event.get("account", ""))),
            action=str(detail["eventName"])[:_LONGEST],
            way=_way(detail),
        )
        role, asked = role_of(identity), detail.get("requestParameters")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UnreadableError(f"no event of CloudTrail: {type(error).__name__} {error}") from error
    if detail.get("errorCode") or detail.get("readOnly") is True or _only_reads(asked):
        return Reading([], role)
    keys = sorted(set(_keys(asked)))
    calls = [replace(told, policy=policy, item=item[:_LONGEST]) for policy, item in keys if _counts(policy, item)]
    return Reading(calls if keys else [told], role)


def _writable(event: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return *event* with what no UTF-8 can hold (half a surrogate pair) as question marks: no table would take it."""
    return json.loads(json.dumps(event, ensure_ascii=False).encode("utf-8", "replace"))


def _way(detail: Mapping[str, Any]) -> Way:
    """Return how the call was made. A user agent is what the caller says of itself: this only sorts, nobody trusts it.

    `sessionCredentialFromConsole`: "true" for a session of AWS's console (CloudTrail user guide, "record contents").
    """
    if APPLICATION in str(detail.get("userAgent", "")):
        return "command"
    return "console" if str(detail.get("sessionCredentialFromConsole", "")).lower() == "true" else "other"


def _only_reads(asked: object) -> bool:
    """Whether a statement of PartiQL selects: CloudTrail calls `ExecuteStatement` a write whatever it says."""
    statement = asked.get("statement") if isinstance(asked, Mapping) else None
    return isinstance(statement, str) and statement.lstrip().upper().startswith("SELECT")


def _keys(asked: object, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield name and sort key of each item that a request writes."""
    if depth > _MOST_DEPTH:
        return
    if isinstance(asked, Mapping):
        if asked.get("operation") == "ConditionCheck":
            return
        name, sort = _plain(asked.get("name")), _plain(asked.get("sk"))
        if name and sort:
            yield name, sort
            return
    inner = asked.values() if isinstance(asked, Mapping) else asked if isinstance(asked, list) else ()
    for each in inner:
        yield from _keys(each, depth + 1)


def _plain(value: object) -> str:
    """Return a key's text, in CloudTrail's form ("live") or in DynamoDB's ({"S": "live"})."""
    found = value.get("S") if isinstance(value, Mapping) else value
    return found if isinstance(found, str) else ""


def _counts(policy: str, item: str) -> bool:
    """Whether an item is a person's policy, or one that only Relight writes: what is in force, and these notes."""
    ours = item == "head" or item.startswith(REVISION_PREFIX) or policy.startswith(PREFIX)
    return item == "live" or ours or policy == LISTING
