"""The envelope: one Kinesis record or one SQS body, the node's identity once and its events.

Decides whether bytes are an envelope and which of its events can be used. It must not know which lane it came by.
"""

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, Field, ValidationError

from policies.contract.base import LARGEST_NUMBER, Model
from policies.contract.errors import BadInputError
from policies.contract.events import FaultEvent
from policies.contract.progress import MOST_JOBS, JobProgress
from policies.contract.times import Moment

SCHEMA_VERSION = 1
ENVELOPE_LIMIT_BYTES = 256 * 1024
CANARY_NODE = "relight-canary"
_LONGEST_REASON = 200


class NodeIdentity(Model):
    """Who speaks. ``network_path`` is outermost first.

    ``name`` is for display: names are reused, instance ids are not. ``driver_version`` is NVIDIA's, as ``570.148.08``;
    empty where nobody tells it: what does not come from an agent has none.
    """

    cluster: Annotated[str, Field(min_length=1)]
    name: Annotated[str, Field(min_length=1)]
    instance_id: Annotated[str, Field(min_length=1)]
    instance_type: str = ""
    availability_zone: str = ""
    network_path: tuple[str, ...] = ()
    boot_id: str = ""
    driver_version: str = ""


class Envelope(Model):
    """Events of one node in the order of ``seq``; empty is a heartbeat, and then ``first_seq`` is the next one to come.

    ``first_seq`` is the seq of the first event. Events of one envelope may leave gaps (the overflow lane carries only
    severities of error and above). ``jobs`` tells how jobs go whose first rank is here: about each heartbeat.
    """

    # Names of fields repeat, values hardly do: keeping texts that were seen costs a share of the parsing for nothing.
    model_config = ConfigDict(cache_strings="keys")

    schema_version: Literal[1] = 1
    node: NodeIdentity
    spool_id: Annotated[str, Field(min_length=1)]
    first_seq: Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
    sent_at: Moment
    agent_version: str = ""
    events: tuple[FaultEvent, ...] = ()
    jobs: Annotated[tuple[JobProgress, ...], Field(max_length=MOST_JOBS)] = ()


@dataclass(frozen=True)
class RejectedEvent:
    """One event of an otherwise good envelope that cannot be used, and why. ``seq`` is None when it has none."""

    payload: dict[str, Any]
    reason: str
    seq: int | None


class ParsedEnvelope(NamedTuple):
    """A good envelope and those of its events that were not."""

    envelope: Envelope
    rejected: tuple[RejectedEvent, ...] = ()


def parse_envelope(body: bytes) -> ParsedEnvelope:
    """Return the envelope in *body* (UTF-8 JSON); BadInputError with the reason when there is none."""
    if len(body) > ENVELOPE_LIMIT_BYTES:
        msg = f"the record has {len(body)} bytes; an envelope has at most {ENVELOPE_LIMIT_BYTES}."
        raise BadInputError(msg, hint="Split it at the sender.")
    try:
        return ParsedEnvelope(Envelope.model_validate_json(body))
    except ValidationError:
        return _parse_leniently(_as_object(body))


def _as_object(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        msg = f"the record is not UTF-8 JSON ({type(error).__name__})."
        raise BadInputError(msg, hint="Only Relight agents and intake may write to this lane.") from None
    if not isinstance(data, dict):
        msg = f"the record is a JSON {type(data).__name__}, not an object."
        raise BadInputError(msg, hint="Send one envelope a record.")
    if data.get("schema_version") != SCHEMA_VERSION:
        version = repr(data.get("schema_version"))[:20]
        msg = f"schema_version {version} is unknown; this version reads {SCHEMA_VERSION}."
        raise BadInputError(msg, hint="Update the pipeline before the agents, then redrive.")
    return data


def _parse_leniently(data: dict[str, Any]) -> ParsedEnvelope:
    raw_events = data.get("events", [])
    if not isinstance(raw_events, list):
        msg = "events is not a list."
        raise BadInputError(msg, hint="Send one envelope a record.")
    try:
        shell = Envelope.model_validate_json(json.dumps({**data, "events": [], "jobs": _jobs(data.get("jobs"))}))
    except ValidationError as error:
        msg = f"the envelope is malformed: {explain(error)}."
        raise BadInputError(msg, hint="Check the sender's version.") from None
    good: list[FaultEvent] = []
    bad: list[RejectedEvent] = []
    for raw in raw_events:
        try:
            good.append(FaultEvent.model_validate_json(json.dumps(raw)))
        except ValidationError as error:
            bad.append(_rejected(raw, explain(error)))
    return ParsedEnvelope(shell.model_copy(update={"events": tuple(good)}), tuple(bad))


def _jobs(raw: object) -> list[Any]:
    """Return what is right of *raw*: a remark is said again half a minute later, and is worth no event beside it."""
    return [one for one in raw if _is_progress(one)][:MOST_JOBS] if isinstance(raw, list) else []


def _is_progress(raw: object) -> bool:
    try:
        JobProgress.model_validate_json(json.dumps(raw))
    except ValidationError:
        return False
    return True


def _rejected(raw: object, reason: str) -> RejectedEvent:
    payload = raw if isinstance(raw, dict) else {"value": raw}
    seq = payload.get("seq")
    if not isinstance(seq, int) or isinstance(seq, bool) or not 0 <= seq <= LARGEST_NUMBER:
        seq = None
    return RejectedEvent(payload, reason, seq)


def explain(error: ValidationError, most: int = 3) -> str:
    """Return the first few problems of *error* as ``path: reason; path: reason``, without the offending values."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    texts = [f"{_path(problem['loc'])}: {_reason(problem['type'], problem['msg'])}" for problem in problems[:most]]
    more = f"; and {len(problems) - most} more" if len(problems) > most else ""
    return "; ".join(texts) + more


def _reason(kind: str, message: str) -> str:
    # pydantic lists all words of an enumeration, which for kinds is a page.
    return (
        "is no word of the vocabulary"
        if kind == "enum" and len(message) > _LONGEST_REASON
        else message[:_LONGEST_REASON]
    )


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "document"
