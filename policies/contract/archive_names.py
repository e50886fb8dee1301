"""How the archive's objects are called: by family, hour of arrival, first arrival and what is in them.

Decides a key and reads one. Keys sort by first arrival, so that an object need not be opened before it is due. It must
not know lines or S3.
"""

import hashlib
import re
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

EVENTS: Final = "events"
INCIDENTS: Final = "incidents"
POLICIES: Final = "policies"
FAMILIES: Final = (EVENTS, INCIDENTS, POLICIES)
HOUR = timedelta(hours=1)
SUFFIX = ".jsonl.gz"
DIGEST_LENGTH = 32
_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_NAMED = re.compile(
    r"(?P<family>events|incidents|policies)/\d{4}/\d\d/\d\d/\d\d/"
    r"(?P<first>\d{8}T\d{6}\.\d{6}Z)-(?P<source>[A-Za-z0-9._-]+)-(?P<digest>[0-9a-f]{32})\.jsonl\.gz"
)


class ObjectName(NamedTuple):
    """What an object's key says: no line of it is before ``first``. ``source`` is lane and shard, or the table."""

    first: datetime
    key: str
    family: str
    source: str


def object_key(family: str, first: datetime, source: str, lines: bytes) -> str:
    """Return the key of an object with these *lines*, the first of which is of *first*: the same for the same lines.

    *source* is lane and shard (``faults-shardId-000000000001``) or ``overflow``, or the table. Other lines never get
    the same key: a repeat that holds less cannot take the place of what holds more.
    """
    utc = first.astimezone(UTC)
    told = _NO_NAME.sub("_", source) or "_"
    digest = hashlib.sha256(lines).hexdigest()[:DIGEST_LENGTH]
    # strftime writes the year 1 as "1": such a key would be none of the archive's, and what is in it gone in silence.
    return f"{hour_prefix(family, utc)}{utc.year:04}{utc:%m%dT%H%M%S.%fZ}-{told}-{digest}{SUFFIX}"


def parse_key(key: str) -> ObjectName | None:
    """Return what *key* says; None for an object that is none of the archive's."""
    found = _NAMED.fullmatch(key)
    if found is None:
        return None
    try:
        first = datetime.strptime(found["first"], _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
    return ObjectName(first, key, found["family"], found["source"])


def hour_of(moment: datetime) -> datetime:
    """Return the hour (UTC) that *moment* falls into."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def hour_prefix(family: str, moment: datetime) -> str:
    """Return what the keys of an hour begin with."""
    moment = moment.astimezone(UTC)
    return f"{family}/{moment.year:04}/{moment:%m/%d/%H}/"


def day_prefix(family: str, day: date) -> str:
    """Return what the keys of a *day* (UTC) begin with."""
    return f"{family}/{day.year:04}/{day:%m/%d}/"


def parse_day(prefix: str) -> date | None:
    """Return the day that `day_prefix` made *prefix* of; None when it is of no day."""
    try:
        return datetime.strptime(prefix.partition("/")[2], "%Y/%m/%d/").replace(tzinfo=UTC).date()
    except ValueError:
        return None
