"""Writes what was seen as the events of an example: masked, in the order of time, without what goes without saying.

Decides the form alone. It must not know which policy they are for.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from policies.contract.events import FaultEvent, Scalar
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import Severity
from policies.recording.masking import Mask
from policies.recording.sightings import Sighting

LONGEST_MESSAGE = 2048
_MINUTE = 60
_EVENT_ID = re.compile(r"[0-9a-f]{32}")


def tell_events(seen: Sequence[Sighting], mask: Mask, *, rack_level: int | None) -> list[dict[str, Any]]:
    """Return the events of *seen*, which is in the order of time, as an operator writes them.

    ``rack_level``: which part of a node's network path its rack is told by, 0 the innermost; None: it does not matter.
    """
    first = seen[0].moment
    # The ids that `examples.tell` gives the events: what names the first of an occurrence goes on naming it.
    ids = {one.event.id: stable_id("example", place) for place, one in enumerate(seen)}
    told = [_event(one.event, mask, ids) | _place(one, mask, rack_level, first) for one in seen]
    if _tells_apart(told):
        return told
    return [{name: value for name, value in event.items() if name != "node"} for event in told]


def span(seconds: float) -> str:
    """Return *seconds* as a person writes a span of time, to the millisecond."""
    if seconds and not seconds % _MINUTE:
        return f"{int(seconds // _MINUTE)}m"
    return f"{seconds:.3f}".rstrip("0").rstrip(".") + "s"


def _place(one: Sighting, mask: Mask, rack_level: int | None, first: datetime) -> dict[str, Any]:
    path, after = one.node.network_path, (one.moment - first).total_seconds()
    rack = path[-1 - rack_level] if rack_level is not None and len(path) > rack_level else ""
    found = {"node": mask.node(one.node), "rack": mask.rack(rack), "after": span(after) if after else ""}
    return {name: value for name, value in found.items() if value}


def _tells_apart(told: Sequence[Mapping[str, Any]]) -> bool:
    """Whether it matters what a node is called: there are several, or one is spoken of."""
    nodes = {event["node"] for event in told}
    texts = json.dumps([{name: value for name, value in event.items() if name != "node"} for event in told])
    return len(nodes) > 1 or any(name in texts for each in nodes for name in (each, f"i-{each.removeprefix('node-')}"))


def _event(event: FaultEvent, mask: Mask, ids: Mapping[str, str]) -> dict[str, Any]:
    part, job = mask.component(event.component), mask.job(event.job)
    attributes = {name: _attribute(name, value, mask, ids) for name, value in sorted(event.attributes.items())}
    told: dict[str, Any] = {
        "kind": event.kind.value,
        "severity": event.severity.value if event.severity is not Severity.ERROR else None,
        "component": part.model_dump(mode="json", exclude_none=True) if part else None,
        "job": job.model_dump(mode="json", exclude_none=True) if job else None,
        "attributes": attributes or None,
        "message": mask.text(event.message)[:LONGEST_MESSAGE] or None,
        "count": event.count if event.count > 1 else None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _attribute(name: str, value: Scalar, mask: Mask, ids: Mapping[str, str]) -> Scalar:
    if name == "occurrence" and isinstance(value, str) and _EVENT_ID.fullmatch(value):
        return ids.get(value) or stable_id("before the example", value)
    return mask.attribute(name, value)
