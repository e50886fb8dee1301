"""What must hold of every reader for any bytes at all. It must not know how the bytes were found.

A reader never raises, tells only what an event can carry, and the joiner loses and repeats nothing.
"""

from datetime import UTC, datetime

from agent.follow.reader import FixedPlace, LogRecord
from agent.kernel_log.joiner import Item, Joiner
from agent.kernel_log.lines import LINE_LIMIT, LineSplitter
from agent.kernel_log.record import KernelRecord, parse_record
from agent.parsers.pci import normalise_pci
from agent.parsers.rank_log import LossWatch, cause
from agent.parsers.registry import parse_sightings
from agent.parsers.sighting import Sighting
from agent.parsers.training import parse_training_line
from policies.contract.catalog.nvlink5 import layout_of

LONGEST_ATTRIBUTE = 256
NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def check(data: bytes) -> None:
    """Read *data* in every way there is; AssertionError says what does not hold."""
    splitter = LineSplitter(0)
    lines = splitter.feed(data) + splitter.finish()
    assert all(len(line.raw) <= LINE_LIMIT for line in lines)
    text = data.decode("utf-8", "replace")
    records = [parse_record(text), *(parse_record(line.raw.decode("utf-8", "replace")) for line in lines[:64])]
    for record in records:
        _check_record(record, text)
    _check_training(text.split("\n")[:64])
    _check_joiner(records)


def _check_record(record: KernelRecord, text: str) -> None:
    for driver in ("", "R570", text[:16]):
        told = parse_sightings(record, lambda driver=driver: layout_of(driver))  # type: ignore[misc]
        for sighting in told:
            _check_sighting(sighting)


def _check_sighting(sighting: Sighting) -> None:
    for name, value in sighting.attributes.items():
        assert isinstance(value, (str, int, float, bool)), name
        assert len(str(value)) <= LONGEST_ATTRIBUTE, name
    component = sighting.component
    assert component is not None
    assert component.pci is None or normalise_pci(component.pci) == component.pci
    if sighting.kind == "gpu.xid":
        assert isinstance(sighting.attributes["xid"], int)


def _check_training(lines: list[str]) -> None:
    watch = LossWatch()
    told = [sighting for line in lines for sighting in (*parse_training_line(line), *watch.take(line))]
    for sighting in told:
        _check_sighting(sighting)
    assert (cause(told) is None) == (not told)


def _check_joiner(records: list[KernelRecord]) -> None:
    items: list[Item] = [LogRecord(record, str(at), NOW, FixedPlace({"at": at})) for at, record in enumerate(records)]
    joiner = Joiner()
    told = joiner.take(items) if items else []
    told += joiner.take([])
    assert [item.position for item in told] == [item.position for item in items]
