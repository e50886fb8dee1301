"""How fast archived months go by, and whether memory grows with them: gzip JSONL to incidents, one core.

The archive is made of the mix of `tests.bench.triage`: 2,000 nodes, each with its own story, each heard every ten
minutes, and half of them sick all day, which is worse than any cluster. All shipped policies are in force, as shipped.
Each run is a process of its own, so that its peak is its own; time is processor time, all of it but the imports and the
compiling of the policies: listing, unpacking, merging, judging, deciding and the sums of what came of it.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from functions.adapters.archive_folder import FolderArchive
from functions.adapters.archive_packing import pack
from functions.ports.policies import Head
from policies.contract.archive import ArchivedRecord, format_record
from policies.contract.archive_names import EVENTS
from policies.contract.identifiers import stable_id
from policies.contract.times import format_time
from policies.loader import load_document
from policies.model import Policy
from simulator.backtest import Asked, backtest, read_past
from simulator.in_force import Revisions
from tests.bench.measure import Figure, figure
from tests.bench.triage import NODES, SEED, _body, calm
from tests.tools.envelopes import NOW, shipped_documents

FEW, MANY = 200_000, 1_000_000
EVERY = timedelta(minutes=10)
RUNS = 3
RECORDS_AN_OBJECT = 5_000
Document = dict[str, Any]


def figures() -> list[Figure]:
    """Measure both sizes."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder) / "few", Path(folder) / "many"
        write(few, FEW)
        write(many, MANY)
        short, long = [_measured(few) for _ in range(RUNS)], [_measured(many) for _ in range(RUNS)]
    ratios = [one["peak"] / other["peak"] for one, other in zip(long, short, strict=True)]
    speeds = [one["events"] / one["seconds"] for one in long]
    return [
        figure(f"back-test: gzip JSONL to incidents, one core, {MANY:,} events", "events/s", speeds, better="higher"),
        figure(f"back-test: memory at {FEW:,} events", "MiB", [one["peak"] for one in short], better="lower"),
        figure(f"back-test: memory at {MANY:,} events", "MiB", [one["peak"] for one in long], better="lower"),
        figure(f"back-test: memory at {MANY:,} over {FEW:,} events", "times", ratios, better="lower"),
    ]


def write(folder: Path, events: int) -> None:
    """Write an archive of so many *events* (a few more) into *folder*."""
    archive = FolderArchive(folder)
    batch: list[ArchivedRecord] = []
    for record in _records(events):
        batch.append(record)
        if len(batch) == RECORDS_AN_OBJECT:
            _put(archive, batch)
            batch = []
    _put(archive, batch)


def _put(archive: FolderArchive, batch: list[ArchivedRecord]) -> None:
    for key, body in pack(batch, EVENTS, "faults-0", format_record):
        archive.put(key, body)


def _records(events: int) -> Iterator[ArchivedRecord]:
    stories = [json.loads(_body(random.Random(SEED + number), number)) for number in range(NODES)]
    total = turn = 0
    while total < events:
        for number, story in enumerate(stories):
            arrived = NOW + turn * EVERY + number * EVERY / NODES
            total += len(story["events"])
            body = json.dumps(_retold(story, number, turn, arrived - NOW), separators=(",", ":")).encode()
            yield ArchivedRecord(arrived, "faults", f"{turn:06d}-{number:06d}", body)
        turn += 1


def _retold(story: Document, number: int, turn: int, later: timedelta) -> Document:
    """Return the *story* of a node as it is told so much *later*."""
    first, moment = turn * len(story["events"]), format_time(NOW + later)
    events = [
        {**event, "seq": seq, "id": stable_id("event", number, seq), "observed_at": moment, "first_observed_at": moment}
        for seq, event in enumerate(story["events"], first)
    ]
    return {**story, "first_seq": first, "sent_at": moment, "events": events}


def _measured(folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.backtest", str(folder)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    measured: dict[str, float] = json.loads(answer)
    return measured


def _heads() -> list[Head]:
    loaded = ((fields, load_document(fields, try_examples=False)) for fields in shipped_documents())
    return [Revisions().head_of(fields, policy.mode) for fields, policy in loaded if isinstance(policy, Policy)]


def _run(folder: Path) -> dict[str, float]:
    asked = Asked(FolderArchive(folder), str(folder), candidate=_heads())
    with calm():
        began = time.process_time()
        report = backtest(asked, read_past(asked))
        seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"events": report.after.counts["events"], "seconds": seconds, "peak": peak, "done": len(report.after.deeds)}


if __name__ == "__main__":
    print(json.dumps(_run(Path(sys.argv[1]))))
