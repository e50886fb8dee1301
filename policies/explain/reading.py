"""What a person hands over to be explained: an envelope, an event, or a few words of one, as JSON.

Decides what of it is an envelope and puts one around what is not. It must not read files.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError

from policies.contract.envelope import Envelope, NodeIdentity, ParsedEnvelope, explain, parse_envelope
from policies.contract.errors import BadInputError
from policies.contract.events import FaultEvent
from policies.evaluator import Delivery
from policies.examples import event_of, path_of
from policies.expressions.attributes import TABLE
from policies.model import ExampleEvent
from policies.moments import earlier, later

SPOOL = "explained"
HINT = 'Give an envelope, an event as `relight agent run` sends it, or {"kind": "gpu.xid", "attributes": {"xid": 79}}.'


@dataclass(frozen=True)
class _Said:
    """What stands at ``place`` (from 1): a few words of an event (``words``), or the ``whole`` of what was sent."""

    place: int
    words: ExampleEvent | None
    whole: dict[str, Any]

    @property
    def after(self) -> float:
        """How long (s) after the first event it happened."""
        return self.words.after if self.words else 0.0


def deliveries_in(text: str, node: NodeIdentity, now: datetime) -> list[Delivery]:
    """Return what *text* (one JSON value, a list of them, or one a line) holds, in its order.

    An event without an envelope is one of *node*. Of those in a few words the last happened at *now*, and the others so
    long before as their `after` says, in the order of time as in an example. What has its own times is taken to have
    arrived when it was sent. BadInputError says what is wrong.
    """
    said = [_said(one, place) for place, one in enumerate(_values(text), 1)]
    lasted = max(one.after for one in said)
    if lasted:
        said = sorted(said, key=lambda one: one.after)
    begin = earlier(now, timedelta(seconds=lasted))
    return [_delivery(one, seq, node, begin) for seq, one in enumerate(said)]


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


def _said(value: object, place: int) -> _Said:
    if not isinstance(value, dict):
        raise BadInputError(f"a JSON {type(value).__name__} is no event.", hint=HINT)
    if {"events", "spool_id", "observed_at"} & value.keys():
        return _Said(place, None, value)
    try:
        words = ExampleEvent.model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise BadInputError(f"event {place}: {explain(error)}.", hint=HINT) from None
    _refuse_texts_for_numbers(words, place)
    return _Said(place, words, value)


def _refuse_texts_for_numbers(words: ExampleEvent, place: int) -> None:
    """An agent sends these as numbers: a text fits no policy that asks for the number, and others fire instead."""
    numbers = {word[:-1] for word in TABLE.get(words.kind, "").split() if word.endswith("#")}
    for name, value in words.attributes.items():
        if name in numbers and isinstance(value, str):
            hint = f"Leave the quotes out: {value}." if value.isdecimal() else "Write the number."
            raise BadInputError(f"event {place}: attributes.{name} is a number, not the text {value!r}.", hint=hint)


def _delivery(said: _Said, seq: int, node: NodeIdentity, begin: datetime) -> Delivery:
    if said.words is not None:
        moment = later(begin, timedelta(seconds=said.after))
        return _enveloped(event_of(said.words, seq, moment), _node(said.words, node))
    if "observed_at" in said.whole:
        return _enveloped(_whole(said, seq), node)
    parsed = parse_envelope(json.dumps(said.whole).encode())
    return Delivery(parsed, parsed.envelope.sent_at)


def _enveloped(event: FaultEvent, node: NodeIdentity) -> Delivery:
    envelope = Envelope(node=node, spool_id=SPOOL, first_seq=event.seq, sent_at=event.observed_at, events=(event,))
    return Delivery(ParsedEnvelope(envelope), event.observed_at)


def _node(words: ExampleEvent, node: NodeIdentity) -> NodeIdentity:
    """Return the node that the event names, as an example does; else *node*."""
    named = {"name": words.node, "instance_id": words.node} if "node" in words.model_fields_set else {}
    placed = {"network_path": path_of(words.rack)} if words.rack else {}
    return node.model_copy(update={**named, **placed})


def _whole(said: _Said, seq: int) -> FaultEvent:
    try:
        told = FaultEvent.model_validate_json(json.dumps({"seq": seq, **said.whole}))
    except ValidationError as error:
        raise BadInputError(f"event {said.place}: {explain(error)}.", hint=HINT) from None
    return told.model_copy(update={"seq": seq})
