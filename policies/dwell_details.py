"""What the state keeps of the newest event of a condition that has to last, so that a heartbeat alone may tell of it.

Decides how much of it: a finding's worth, whatever the event carries. It must not know how long anything lasts.
"""

import json
from typing import Any

from policies.contract.base import LARGEST_NUMBER
from policies.contract.events import Component, FaultEvent, JobRef, Scalar, cut_message
from policies.contract.vocabulary import Kind, Severity, Source
from policies.moments import from_ms

LARGEST_ATTRIBUTES = 1024
LONGEST_TEXT = 200
LARGEST_COMPONENT = 300
MESSAGE_BYTES = 512
_WITHOUT_JOB = 6_000  # attributes and component as above, of the message's bytes each six, and words
_AROUND = 4  # brackets, comma and blank of a pair as JSON


def keep(event: FaultEvent, moment: int) -> list[Any]:
    """Return *event*, which happened at *moment* (ms, corrected), as short JSON."""
    component = event.component.model_dump(mode="json", exclude_none=True) if event.component else None
    if component is not None and len(json.dumps(component)) > LARGEST_COMPONENT:
        component = {"type": component["type"]}
    job = _plausible(event.job.model_dump(mode="json", exclude_none=True)) if event.job else None
    message, _cut = cut_message(event.message, MESSAGE_BYTES)
    attributes = _short(event.attributes)
    return [
        moment,
        event.id,
        event.kind.value,
        event.severity.value,
        event.source.value,
        component,
        job,
        attributes,
        message,
    ]


def room_of(event: FaultEvent) -> int:
    """Return how many bytes what `keep` keeps of *event* has at most as JSON."""
    job = event.job
    return _WITHOUT_JOB if job is None else _WITHOUT_JOB + 6 * (len(job.id) + len(job.checkpoint or ""))


def restore(kept: list[Any]) -> FaultEvent:
    """Return the event that `keep` kept; its times are its moment."""
    moment, event_id, kind, severity, source, component, job, attributes, message = kept
    at = from_ms(moment)
    return FaultEvent.model_construct(
        id=event_id,
        seq=0,
        kind=Kind(kind),
        severity=Severity(severity),
        source=Source(source),
        observed_at=at,
        first_observed_at=at,
        component=Component.model_validate(component) if component else None,
        job=JobRef.model_validate(job) if job else None,
        attributes=attributes,
        message=message,
    )


def _plausible(job: dict[str, Any]) -> dict[str, Any]:
    """Return *job* without numbers that have no end: a step that nobody can have reached must not fill the state."""
    return {name: value for name, value in job.items() if not isinstance(value, int) or abs(value) <= LARGEST_NUMBER}


def _short(attributes: dict[str, Scalar]) -> dict[str, Scalar]:
    """Return those there is room for, in the order of their names, long texts cut."""
    kept: dict[str, Scalar] = {}
    room = LARGEST_ATTRIBUTES
    for name, value in sorted(attributes.items()):
        text = value[:LONGEST_TEXT] if isinstance(value, str) else value
        room -= _length_of(name) + _length_of(text) + _AROUND
        if room >= 0:
            kept[name] = text
    return kept


def _length_of(value: Scalar) -> int:
    """Return how long *value* is as JSON; what needs no escape is as long as it is, with its quotes."""
    if isinstance(value, str) and value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        return len(value) + 2
    return len(json.dumps(value))
