"""What `dcgmi health -c -j` prints, as incidents.

The shape (NVIDIA's DCGM, dcgmi/Health.cpp and DcgmiOutput.cpp), with a line or two before it in some versions:

    {"header": ["Health Monitor Report"],
     "body": {"Overall Health": {"value": "Failure"},
              "GPU": {"children": {"0": {"value": "Failure", "children": {"Errors": {"children":
                  {"Memory system": {"value": "Failure", "overflow": ["text", ...]}}}}}}}}}

The text of an incident is cut into lines of the table's width. It must not know what an incident means.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_ENTITIES = ("GPU", "Switch", "NvSwitch", "GPU_I", "GPU_CI", "NVSwitch", "CPU")
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Incident:
    """One watch of one part: ``entity`` and ``number`` as DCGM numbers them, ``system`` as it prints it."""

    entity: str
    number: int
    system: str
    health: str  # Warning, Failure
    text: str


class BadReportError(Exception):
    """It is not the report that we know."""


def parse_report(text: str) -> list[Incident]:
    """Return what the report says is not well; BadReportError when it is none."""
    start = text.find("{")
    try:
        body: Json = json.loads(text[start:])["body"]
        body["Overall Health"]["value"]
        return list(_incidents(body))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"dcgmi health printed no report that is known: {' '.join(text.split())[:120]}"
        raise BadReportError(msg) from error


def _incidents(body: Json) -> Iterator[Incident]:
    for entity in body:
        if entity not in _ENTITIES:
            continue
        for number, part in _children(body[entity]):
            for _, errors in _children(part):
                for system, watch in _children(errors):
                    text = " ".join(str(line) for line in _lines(watch))
                    yield Incident(entity, int(number), system, str(watch["value"]), text)


def _children(node: Json) -> Iterator[tuple[str, Json]]:
    yield from (node.get("children") or {}).items()


def _lines(watch: Json) -> list[Any]:
    lines = watch.get("overflow") or []
    return [line.get("value", "") if isinstance(line, dict) else line for line in lines]
