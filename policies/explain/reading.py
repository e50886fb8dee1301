"""What a person hands over to be explained: an envelope, an event, or a few words of one, as JSON.

Decides what of it is an envelope and puts one around what is not. It must not read files.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from policies.contract.envelope import Envelope, NodeIdentity, ParsedEnvelope, explain, parse_envelope
from policies.contract.errors import BadInputError
from policies.contract.events import FaultEvent
from policies.evaluator import Delivery
from policies.examples import event_of
from policies.model import ExampleEvent

SPOOL = "explained"
HINT = 'Give an envelope, an event as `relight agent run` sends it, or {"kind": "gpu.xid", "attributes": {"xid": 79}}.'


def deliveries_in(text: str, node: NodeIdentity, now: datetime) -> list[Delivery]:
    """Return what *text* (one JSON value, a list of them, or one a line) holds, in its order.

    An event without an envelope is one of *node*; one in a few words happened at *now*. What has its own times is taken
    to have arrived when it was sent. BadInputError says what is wrong.
    """
    return [_delivery(one, place, node, now) for place, one in enumerate(_values(text))]


def _values(text: str) -> Sequence[Any]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = [_line(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    values: list[Any] = whole if isinstance(whole, list) else [whole]
    if not values:
        raise BadInputError("there is no event in it.", hint=HINT)
    return values


def _line(number: int, line: str) -> Any:  # noqa: ANN401 - JSON of any shape
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise BadInputError(f"line {number} is no JSON.", hint=HINT) from None


def _delivery(value: object, place: int, node: NodeIdentity, now: datetime) -> Delivery:
    if not isinstance(value, dict):
        raise BadInputError(f"a JSON {type(value).__name__} is no event.", hint=HINT)
    if "events" in value or "spool_id" in value:
        parsed = parse_envelope(json.dumps(value).encode())
        return Delivery(parsed, parsed.envelope.sent_at)
    event = _event(value, place, now)
    envelope = Envelope(node=node, spool_id=SPOOL, first_seq=place, sent_at=event.observed_at, events=(event,))
    return Delivery(ParsedEnvelope(envelope), event.observed_at)


def _event(value: dict[str, Any], place: int, now: datetime) -> FaultEvent:
    whole = "observed_at" in value
    try:
        if whole:
            told = FaultEvent.model_validate_json(json.dumps({"seq": place, **value}))
            return told.model_copy(update={"seq": place})
        return event_of(ExampleEvent.model_validate_json(json.dumps(value)), place, now)
    except ValidationError as error:
        raise BadInputError(f"event {place + 1}: {explain(error)}.", hint=HINT) from None
