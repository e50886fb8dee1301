"""Tells what is alike and close together once, with its count, as an agent does with a burst.

Decides what is alike. It must not know whether the same comes out of it: whoever asks tries it.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from policies.recording.sightings import Sighting


def merged(seen: Sequence[Sighting], within: timedelta) -> list[Sighting]:
    """Return *seen*, which is in the order of time, with what is alike and no longer than *within* apart as one.

    It stays where its first was.
    """
    kept: list[Sighting] = []
    newest: dict[str, int] = {}
    for one in seen:
        name = _alike(one)
        at = newest.get(name)
        if at is None or one.moment - kept[at].moment > within:
            newest[name] = len(kept)
            kept.append(one)
        else:
            first = kept[at]
            more = first.event.model_copy(update={"count": first.event.count + one.event.count})
            kept[at] = replace(first, event=more)
    return kept


def _alike(one: Sighting) -> str:
    """Return a text that is the same for what differs in its moment, its count and what it printed alone."""
    event = one.event
    attributes = {name: value for name, value in sorted(event.attributes.items()) if name != "occurrence"}
    job = event.job.id if event.job else ""
    part = event.component.model_dump_json() if event.component else ""
    return repr((one.node.instance_id, event.kind, event.severity, part, job, attributes))
