"""What the stream says of writes to `live` items: when each was, and from which content to which.

So a revision knows when it was written, and it can be told later by whose call. Decides which writes one revision is
made of. It must not judge by the images: whether an edit comes into force is seen on the table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from functions.adapters.policy_items import untyped
from policies.documents import fingerprint

_LATEST = 100_000_000_000  # seconds since 1970: the year 5138


@dataclass(frozen=True)
class Write:
    """One change of a `live` item: from the content with one fingerprint to that with another ("": no item).

    ``at`` is the stream's, "rounded down to the closest second" (DynamoDB API reference, StreamRecord).
    """

    at: datetime
    before: str
    after: str


def write_of(record: Mapping[str, Any]) -> Write | None:
    """Return what *record* changed of a `live` item; None where the operator's fields stay, as in our own writes."""
    change = record["dynamodb"]
    if change["Keys"]["sk"]["S"] != "live":
        return None
    at = _moment(change.get("ApproximateCreationDateTime"))
    before, after = (_mark(change.get(image)) for image in ("OldImage", "NewImage"))
    return Write(at, before, after) if at and before != after else None


def made_of(writes: Sequence[Write], start: str, end: str) -> Sequence[Write]:
    """Return the last of *writes* that led to the content *end*, and those before it since the content was *start*.

    Empty when none of them did: the item was written again meanwhile, or the stream has forgotten. What led to *end*
    may have been looked at in between and refused; then one write too many is told rather than one too few.
    """
    last = max((at for at, each in enumerate(writes) if each.after == end), default=-1)
    first = max((at for at in range(last + 1) if writes[at].before == start), default=0)
    return writes[first : last + 1]


def _moment(at: object) -> datetime | None:
    """Return the stream's time in whole seconds, None for what is none: that must hold no edit up.

    A table that was told a precision hands on thousandths or millionths (aws-lambda-java-libs, issue 543).
    """
    if isinstance(at, datetime):
        return at.astimezone(UTC).replace(microsecond=0)
    if isinstance(at, bool) or not isinstance(at, int | float) or not 0 < at < _LATEST * 1_000_000:
        return None
    seconds = next(at // unit for unit in (1, 1_000, 1_000_000) if at // unit < _LATEST)
    return datetime.fromtimestamp(int(seconds), UTC)


def _mark(image: Mapping[str, Any] | None) -> str:
    """Return the fingerprint of *image*, "" for none. Lambda hands bytes over as text: such an item is told by that."""
    if not image:
        return ""
    try:
        return fingerprint(untyped(image))
    except (TypeError, ValueError, ArithmeticError):
        return f"binary-{fingerprint({'image': str(sorted(image.items()))})}"
