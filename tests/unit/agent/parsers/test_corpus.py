"""Lines as kernels, drivers and training libraries print them, each with what it tells of, or that it tells nothing."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.kernel_log.record import parse_record
from agent.parsers.registry import parse_sightings
from agent.parsers.sighting import Sighting
from agent.parsers.training import parse_training_line

DATA = Path(__file__).parents[3] / "data"
Reader = Callable[[str], list[Sighting]]


def kernel(record: str) -> list[Sighting]:
    return parse_sightings(parse_record(record))


def lines(name: str) -> Iterator[dict[str, Any]]:
    with (DATA / name).open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file)


def found(sighting: Sighting, name: str) -> object:
    component = sighting.component
    return getattr(component, name, None) if name == "pci" else sighting.attributes.get(name)


def is_right(line: dict[str, Any], told: list[Sighting]) -> bool:
    """One fault of the right kind with the right attributes; a record of two Xids tells of both."""
    if "not" in line:
        return not told
    if not told or (len(told) > 1 and line["kind"] != "gpu.xid"):
        return False
    first = told[0]
    return first.kind == line["kind"] and all(found(first, name) == value for name, value in line["attributes"].items())


@pytest.mark.parametrize(
    ("name", "read", "at_least", "negatives"),
    [("kernel_lines.jsonl", kernel, 300, 100), ("training_lines.jsonl", parse_training_line, 150, 30)],
)
def test_every_line_tells_what_it_tells(name: str, read: Reader, at_least: int, negatives: int) -> None:
    everything = list(lines(name))
    wrong = [(line, told) for line in everything if not is_right(line, told := read(line["record"]))]
    assert wrong == []
    assert len(everything) >= at_least
    assert sum("not" in line for line in everything) >= negatives


# `[    1.5] ` and the like stand before any record that has no prefix of its own.
PREFIXES = (
    "6,4003,3757433151,-;",
    "<4>",
    "<4>[    1.500000] ",
    "[    1.500000] ",
    "[    1.500000] [   T12] ",
    "[Sun Feb 23 16:24:18 2025] ",
    "[Feb23 16:24] ",
    "kern  :warn  : ",
    "kern  :warn  : [    1.500000] ",
    "kern  :err   : 2025-01-21T04:41:44,283302+00:00 ",
    "kernel: ",
    "Jan 21 11:18:36 gpu-7 kernel: ",
    "Jan 21 11:18:36.123456 gpu-7 kernel: [ 8609.389400] ",
    "2025-01-21T11:18:36+0000 gpu-7 kernel: ",
    "2025-01-21T11:18:36.123456Z gpu-7 kernel: [ 8609.389400] ",
    "<4>1 2025-01-21T11:18:36.123456Z gpu-7 kernel - - - ",
    "Tue 2025-01-21 11:18:36 UTC gpu-7 kernel: ",
    "1737458316.123456 gpu-7 kernel: ",
    "[    1.500000] gpu-7 kernel: ",
    "2025-01-21 11:18:36 gpu-7 kernel: ",
    "2025/01/21 11:18:36.123 gpu-7 kernel: ",
    "[2025-01-21T11:18:36.123Z] ",
    "[2025-01-21 11:18:36] gpu-7 kernel: ",
    "Tue Jan 21 11:18:36 2025 gpu-7 kernel: ",
    "Jan 21 11:18:36 kernel: ",
    "gpu-7 kernel: ",
    "[...] gpu-7 kernel: ",
)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_whatever_log_it_stands_in(prefix: str) -> None:
    """Fabric Manager's own lines begin with brackets that only look like a prefix: they keep theirs."""
    bare = [line for line in lines("kernel_lines.jsonl") if parse_record(line["record"]).text == line["record"]]
    assert len(bare) > 250
    escaped = "," in prefix[:3]
    records = [(line, line["record"].replace("\n", "\\x0a") if escaped else line["record"]) for line in bare]
    wrong = [line for line, record in records if not is_right(line, kernel(prefix + record))]
    assert wrong == []


def test_the_words_that_call_a_parser_stand_in_all_that_it_finds() -> None:
    """Parsers are only called where one of their words stands; the corpus shows that no word is missing."""
    from agent.parsers.registry import KERNEL_PARSERS  # noqa: PLC0415 - what the test is about

    for line in lines("kernel_lines.jsonl"):
        text = parse_record(line["record"]).text
        for parser in KERNEL_PARSERS:
            if not any(word in text for word in parser.words):
                assert parser.parse(text, None) == [], (line, parser.words)
