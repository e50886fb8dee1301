"""The readers: records a second on one core, from the text of a record to what it tells of.

Ordinary records are a committed mix of what healthy GPU nodes print (tests/data/ordinary_kernel.txt, as /dev/kmsg gives
it); faults are the corpus's. Processor time, so that other work on the machine counts little.
"""

import json
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from agent.kernel_log.record import parse_record
from agent.parsers.registry import parse_sightings
from agent.parsers.training import parse_training_line
from tests.bench.measure import Figure, figure, repeat

DATA = Path(__file__).parents[1] / "data"
XID = "3,1,2,-;NVRM: Xid (PCI:0000:4b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
RECORDS = 20_000


def figures() -> Iterator[Figure]:
    """Measure ordinary records in two logs' forms, faults, and a rank's log."""
    ordinary = (DATA / "ordinary_kernel.txt").read_text(encoding="utf-8").splitlines()
    syslog = [f"Jan 21 11:18:36 gpu-7 kernel: [ 8609.389400] {parse_record(line).text}" for line in ordinary]
    faults = [line["record"] for line in _corpus("kernel_lines.jsonl") if "kind" in line]
    for name, records in (
        ("an ordinary record of /dev/kmsg", ordinary),
        ("an ordinary record of a syslog file", syslog),
        ("a record of a fault, of every family", faults),
        ("an Xid record", [XID]),
    ):
        yield _figure(name, records, kernel=True)
    yield _figure("a line of a rank's log", [line["record"] for line in _corpus("training_lines.jsonl")], kernel=False)


def _figure(name: str, records: Sequence[str], *, kernel: bool) -> Figure:
    run = _kernel_rate if kernel else _training_rate
    return figure(f"agent: parse {name}", "records/s", repeat(partial(run, records)), better="higher")


def _kernel_rate(records: Sequence[str]) -> float:
    rounds = RECORDS // len(records) + 1
    began = time.process_time()
    for _ in range(rounds):
        for record in records:
            parse_sightings(parse_record(record))
    return rounds * len(records) / (time.process_time() - began)


def _training_rate(records: Sequence[str]) -> float:
    rounds = RECORDS // 10 // len(records) + 1
    began = time.process_time()
    for _ in range(rounds):
        for record in records:
            parse_training_line(record)
    return rounds * len(records) / (time.process_time() - began)


def _corpus(name: str) -> Iterator[dict[str, str]]:
    return (json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines())
