"""`relight agent parse`: what the agent would make of records, without a node, a spool or a network.

One JSON object a line comes in, ``{"id": .., "record": "..", "driver"?: "570.148.08" or "R570"}``, and one goes out,
``{"id": .., "events": [{"kind", "severity", "component", "attributes"}]}``. Without a driver NVLink errors are read in
any layout. Nothing is coalesced. Decides only these forms.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agent.kernel_log.record import parse_record
from agent.parsers.registry import parse_sightings
from agent.parsers.sighting import Sighting
from agent.parsers.training import parse_training_line
from policies.contract.catalog.nvlink5 import layout_of
from policies.contract.errors import BadInputError

Sightings = Callable[[str, str], list[Sighting]]
"""A record and the driver's version (empty: not known) -> what it tells of."""


def kernel_sightings(record: str, driver: str) -> list[Sighting]:
    """Return what a record of a kernel or system log tells of."""
    return parse_sightings(parse_record(record), lambda: layout_of(driver))


def training_sightings(record: str, _driver: str) -> list[Sighting]:
    """Return what a line of a training rank's log tells of."""
    return parse_training_line(record)


def parse_json_lines(lines: Iterable[str], sightings: Sightings) -> Iterator[str | BadInputError]:
    """Return an answer for each line that is not empty: an error for one that is no question, and the rest goes on."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _answer(number, line, sightings)


def parse_text_lines(lines: Iterable[str], sightings: Sightings) -> Iterator[str]:
    """Return an answer for each line, which is a record; its id is the number of the line, from 1."""
    for number, line in enumerate(lines, start=1):
        yield _to_json(number, sightings(line.rstrip("\n"), ""))


def _answer(number: int, line: str, sightings: Sightings) -> str | BadInputError:
    try:
        question = json.loads(line)
    except (ValueError, RecursionError):
        question = None
    if not isinstance(question, dict) or "id" not in question or not isinstance(question.get("record"), str):
        msg = f"line {number} is not a question."
        return BadInputError(msg, hint='Write {"id": 1, "record": "..."}, or give plain lines with --text.')
    driver = question.get("driver")
    return _to_json(question["id"], sightings(question["record"], driver if isinstance(driver, str) else ""))


def _to_json(name: object, sightings: Iterable[Sighting]) -> str:
    return json.dumps({"id": name, "events": [_to_dict(sighting) for sighting in sightings]})


def _to_dict(sighting: Sighting) -> dict[str, Any]:
    component = sighting.component
    return {
        "kind": sighting.kind.value,
        "severity": sighting.severity.value,
        "component": component.model_dump(mode="json", exclude_none=True) if component else None,
        "attributes": dict(sighting.attributes),
    }
