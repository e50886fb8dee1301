"""The archive's lines: what came in, what was done about it and under which policies, so that it can be told again.

Decides how a line reads and in which order lines stand. Text in, objects out: it must not know S3, files or gzip.
Objects are gzip JSONL of three families, in hours of UTC (their names: `archive_names.py`):

``events/``: a line is one record as its lane took it, an envelope with its events or a heartbeat. ``envelope`` (the
very bytes that were sent) or, for what is no JSON object, ``raw`` (base64) is the last key of its line.
``incidents/`` and ``policies/``: a line is one version of a document, under the word that says what it is.

Lines of an object stand in the order of ``order``. A line that was written twice has the same order and the same
content, so that whoever merges objects finds repeats beside each other.
"""

import base64
import binascii
import json
import re
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple

from policies.contract.base import Model
from policies.contract.errors import BadInputError
from policies.contract.times import Moment, format_time, parse_time

LINE_VERSION: Final = 1
What = Literal["incident", "act", "policy", "in_force", "switch", "shadow"]
WHATS: Final[tuple[What, ...]] = ("incident", "act", "policy", "in_force", "switch", "shadow")
Order = tuple[datetime, str, str]
_LAST = datetime.max.replace(tzinfo=UTC)
_ENVELOPE = b',"envelope":'
# The head as `format_record` writes it, where nothing is escaped and no place is told: read three times as fast.
_HEAD = re.compile(
    rb'{"v":%d,"lane":"([^"\\\x00-\x1f]*)","arrived_at":"([^"\\\x00-\x1f]*)","id":"([^"\\\x00-\x1f]*)"' % LINE_VERSION
)


class ArchivedRecord(NamedTuple):
    """One record of a lane. ``id`` is its lane's own: Kinesis's eventID (``shard:sequence number``), SQS's messageId.

    ``place`` is the network path that triage filled in, when the envelope said none.
    """

    arrived_at: datetime
    lane: str
    id: str
    body: bytes
    place: tuple[str, ...] = ()

    @property
    def order(self) -> Order:
        """Where it stands among all records; a repeat has the same."""
        return self[:3]


class Happening(NamedTuple):
    """One version of a document. ``id`` is the same for the same version, whoever writes it how often.

    ``incident``: META of the incidents table. ``act``: an ActRecord. ``policy``: a revision as it was accepted.
    ``in_force``: that a revision became the head. ``switch``: what a person wrote on ``#everything`` (``{}``: its item
    is gone). ``shadow``: a policy put itself in shadow, or was let out.
    """

    at: datetime
    what: What
    id: str
    document: dict[str, Any]

    @property
    def order(self) -> Order:
        """Where it stands among all of its family; a repeat has the same."""
        return self[:3]


class BadLine(NamedTuple):
    """A line that cannot be read, where it stands (lines count from 1; 0: all of the object), and why."""

    object: str
    line: int
    reason: str

    def __str__(self) -> str:
        """Return it as people read it."""
        where = f", line {self.line}" if self.line else ""
        return f"{self.object}{where}: {self.reason}"


class RecordLine(Model):
    """A line of ``events/``."""

    v: Literal[1]
    lane: Literal["faults", "overflow"]
    arrived_at: Moment
    id: str
    place: tuple[str, ...] = ()
    envelope: dict[str, Any] | None = None
    raw: str | None = None


class HappeningLine(Model):
    """A line of ``incidents/`` or ``policies/``: one of the words of `WHATS` has the document."""

    v: Literal[1]
    at: Moment
    id: str
    incident: dict[str, Any] | None = None
    act: dict[str, Any] | None = None
    policy: dict[str, Any] | None = None
    in_force: dict[str, Any] | None = None
    switch: dict[str, Any] | None = None
    shadow: dict[str, Any] | None = None


def format_record(record: ArchivedRecord) -> bytes:
    """Return the line of *record*, its end included."""
    head: dict[str, Any] = {
        "v": LINE_VERSION,
        "lane": record.lane,
        "arrived_at": format_time(record.arrived_at),
        "id": record.id,
    }
    if record.place:
        head["place"] = record.place
    if _is_object(record.body):
        # Outside of strings, where it cannot stand, the end of a line is white space: its length stays the same.
        text = record.body.replace(b"\n", b" ").replace(b"\r", b" ")
        return b"%b%b%b}\n" % (_dump(head)[:-1], _ENVELOPE, text)
    return _dump({**head, "raw": base64.b64encode(record.body).decode()}) + b"\n"


def parse_record(line: bytes) -> ArchivedRecord:
    """Return what `format_record` made *line* of, or whoever wrote the same by hand; BadInputError says why not.

    What stands in the envelope is looked at by whoever reads ``body``: here that would cost as much again.
    """
    head, found, rest = line.rstrip().partition(_ENVELOPE)
    if found and rest.endswith(b"}"):
        try:
            plain = _HEAD.fullmatch(head)
            if plain is None:
                return _record(json.loads(head + b"}"), rest[:-1])
            lane, arrived_at, name = plain.groups()
            return ArchivedRecord(_moment(arrived_at.decode()), lane.decode(), name.decode(), rest[:-1])
        except (ValueError, KeyError, TypeError, RecursionError):
            pass  # the envelope is not the last key
    data = _load(line)
    try:
        return _record(data, _body(data))
    except (ValueError, KeyError, TypeError) as error:
        raise _unfit(error) from None


def format_happening(happening: Happening) -> bytes:
    """Return the line of *happening*, its end included."""
    head = {"v": LINE_VERSION, "at": format_time(happening.at), "id": happening.id}
    return _dump({**head, happening.what: happening.document}) + b"\n"


def parse_happening(line: bytes) -> Happening:
    """Return what `format_happening` made *line* of; BadInputError says why not."""
    data = _load(line)
    try:
        _check_version(data)
        what = _what(data)
        return Happening(_moment(data["at"]), what, _text(data, "id"), data[what])
    except (ValueError, KeyError, TypeError) as error:
        raise _unfit(error) from None


def _record(head: dict[str, Any], body: bytes) -> ArchivedRecord:
    _check_version(head)
    place = head.get("place", ())
    if place and not (isinstance(place, list) and all(isinstance(each, str) for each in place)):
        raise TypeError("place is no list of texts")
    return ArchivedRecord(_moment(head["arrived_at"]), _text(head, "lane"), _text(head, "id"), body, tuple(place))


def _moment(text: str) -> datetime:
    """Return the moment in *text*; the calendar's very last is refused, since no period that is read holds its end."""
    moment = parse_time(text)
    if moment == _LAST:
        raise ValueError(f"{text} is the calendar's last moment")
    return moment


def _what(data: dict[str, Any]) -> What:
    for what in WHATS:
        if isinstance(data.get(what), dict):
            return what
    raise ValueError(f"none of {', '.join(WHATS)} is an object in it")


def _body(data: dict[str, Any]) -> bytes:
    if isinstance(data.get("envelope"), dict):
        return _dump(data["envelope"])
    try:
        return base64.b64decode(data["raw"], validate=True)
    except KeyError:
        raise ValueError("has neither envelope nor raw") from None
    except (binascii.Error, TypeError):
        raise ValueError("raw is no base64") from None


def _check_version(data: dict[str, Any]) -> None:
    if data["v"] != LINE_VERSION:
        raise ValueError(f"v is {str(data['v'])[:20]!r}; this version reads {LINE_VERSION}")


def _text(data: dict[str, Any], name: str) -> str:
    text = data[name]
    if not isinstance(text, str):
        raise TypeError(f"{name} is no text")
    return text


def _load(line: bytes) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"it is no JSON ({type(error).__name__}).") from None
    if not isinstance(data, dict):
        raise BadInputError("it is no JSON object.")
    return data


def _unfit(error: Exception) -> BadInputError:
    told = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
    return BadInputError(f"it is no line of the archive: {told[:200]}.")


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body.decode()), dict)
    except (ValueError, RecursionError):
        return False


def _dump(data: Any) -> bytes:  # noqa: ANN401 - JSON of any shape
    # Bodies may hold lone surrogates as escapes, which UTF-8 cannot write: everything beyond ASCII stays escaped.
    return json.dumps(data, separators=(",", ":")).encode()
