"""How fast archived months go by, and whether memory grows with them: gzip JSONL to incidents, one core.

Two archives of `tests.bench.backtest_mix`: a month of a fleet, with all shipped policies as shipped, and the dense mix,
with an incident in every eighth event. Each run is a process of its own, so that its peak is its own; time is processor
time, all of it but the imports and the compiling of the policies: listing, unpacking, merging, judging, deciding and
the sums of what came of it. What two processes gain is told in processor time as well, since others use the machine:
what one takes, over what each of two takes, its start and its imports included. By turns, and the best of each counts.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from functions.adapters.archive_folder import FolderArchive
from functions.adapters.archive_packing import pack
from functions.ports.policies import Head
from policies.contract.archive import ArchivedRecord, format_record
from policies.contract.archive_names import EVENTS
from policies.loader import load_document
from policies.model import Policy
from simulator.backtest import Asked, backtest, read_past
from simulator.in_force import Revisions
from tests.bench.backtest_mix import beats, dense, honest
from tests.bench.measure import Better, Figure, figure
from tests.bench.triage import calm
from tests.tools.envelopes import shipped_documents

FEW, MANY = 200_000, 1_000_000
HEARTBEATS = 200_000
RECORDS_AN_OBJECT = 5_000
PROMISED = 17_000  # events a second
TURNS = 3


def figures() -> list[Figure]:
    """Measure a fleet's month at both sizes, the dense mix, and heartbeats alone."""
    (few,), runs = _measured("honest", FEW), _measured("honest", MANY, TURNS)
    (thick,), (beating,) = _measured("dense", FEW), _measured("beats", HEARTBEATS)
    many, speeds, seconds = runs[0], [_speed(each) for each in runs], [each["seconds"] for each in runs]
    assert many["matches"] >= many["events"] / 2, "the mix must meet rules as often as the promise says"
    name, more = "back-test: a fleet's month,", "back-test: dense mix (0.13 incidents an event),"
    return [
        figure(f"{name} {MANY:,} events, one core, promised {PROMISED:,}", "events/s", speeds, better="higher"),
        figure(f"{name} {MANY:,} events, processor time", "s", seconds, better="lower"),
        _figure(f"{name} incidents an event", "incidents", many["done"] / many["events"], better="lower"),
        _figure(f"{name} memory at {FEW:,} events", "MiB", few["peak"], better="lower"),
        _figure(f"{name} memory at {MANY:,} events", "MiB", many["peak"], better="lower"),
        _figure(f"{name} memory at {MANY:,} over {FEW:,} events", "times", many["peak"] / few["peak"], better="lower"),
        _figure(f"{more} {FEW:,} events, one core", "events/s", _speed(thick), better="higher"),
        _figure(f"{more} memory at {FEW:,} events", "MiB", thick["peak"], better="lower"),
        _figure(f"{name} {FEW:,} events, one process over each of two", "times", _gain(), better="higher"),
        _figure("back-test: a heartbeat", "µs", beating["seconds"] / beating["records"] * 1e6, better="lower"),
    ]


def _figure(name: str, unit: str, sample: float, *, better: Better) -> Figure:
    return figure(name, unit, [sample], better=better)


def _speed(measured: dict[str, float]) -> float:
    return measured["events"] / measured["seconds"]


def write(folder: Path, records: Iterable[ArchivedRecord]) -> None:
    """Write an archive of *records*, which come in their order, into *folder*."""
    archive = FolderArchive(folder)
    batch: list[ArchivedRecord] = []
    for record in records:
        batch.append(record)
        if len(batch) == RECORDS_AN_OBJECT:
            _put(archive, batch)
            batch = []
    _put(archive, batch)


def _put(archive: FolderArchive, batch: list[ArchivedRecord]) -> None:
    for key, body in pack(batch, EVENTS, "faults-0", format_record):
        archive.put(key, body)


MIXES = {"honest": honest, "dense": dense, "beats": beats}


def _measured(mix: str, events: int, turns: int = 1) -> list[dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), MIXES[mix](events))
        return [_measured_in(folder) for _ in range(turns)]


def _measured_in(folder: str, jobs: int = 1) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.backtest", folder, f"{jobs}"]
    measured: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return measured


def _gain() -> float:
    """Return how many times the processor time of each of two processes one process takes, by the best run of each."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), honest(FEW))
        turns = [(_measured_in(folder, 1)["seconds"], _measured_in(folder, 2)["others"] / 2) for _ in range(TURNS)]
    return min(one for one, _two in turns) / min(two for _one, two in turns)


def _heads() -> list[Head]:
    loaded = ((fields, load_document(fields, try_examples=False)) for fields in shipped_documents())
    return [Revisions().head_of(fields, policy.mode) for fields, policy in loaded if isinstance(policy, Policy)]


def _run(folder: Path, jobs: int) -> dict[str, float]:
    asked = Asked(FolderArchive(folder), str(folder), candidate=_heads(), jobs=jobs)
    with calm():
        began = time.process_time()
        report = backtest(asked, read_past(asked))
        seconds, others = time.process_time() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    counts = {name: report.after.counts[name] for name in ("records", "events", "matches")}
    return {
        **counts,
        "seconds": seconds,
        "others": others.ru_utime + others.ru_stime,
        "peak": _peak(),
        "done": len(report.after.deeds),
    }


def _peak() -> float:
    """Return the most memory (MiB) that this process had; `getrusage` counts that of who started it too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    print(json.dumps(_run(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)))
