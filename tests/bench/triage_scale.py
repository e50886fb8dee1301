"""What an event costs triage when it serves 100,000 nodes, next to what it costs with 2,000.

One worker takes the mix of `tests.bench.triage` from each node once, 2,000 nodes at a time, and so comes to hold the
states of all of them and to remember who was heard; what is measured is the first 2,000 nodes and the last 10,000, in
seconds of processor time.
"""

import json
import time
from collections.abc import Sequence

from functions.triage.records import read_records
from functions.triage.triage import Triage
from tests.bench.measure import Figure, figure
from tests.bench.triage import NODES, calm, make_batches, make_bodies, make_triage

MANY = 100_000
RUNS = 5
PROMISED = 1.3  # what may at most become of it: cost an event at 100,000 nodes over that at 2,000


def figures() -> list[Figure]:
    """Measure both."""
    with calm():
        return _figures()


def _figures() -> list[Figure]:
    bodies = make_bodies()
    _cost(make_triage(), bodies)  # warm
    few = [_cost(make_triage(), bodies) for _ in range(RUNS)]
    triage = make_triage()
    chunks = MANY // NODES
    costs = [_cost(triage, make_bodies(number * NODES)) for number in range(chunks)]
    many = costs[-RUNS:]
    ratios = [one / other for one, other in zip(sorted(many), sorted(few), strict=True)]
    name = "triage: an event, record bytes to decisions, with"
    return [
        figure(f"{name} {NODES:,} nodes", "µs/event", few, better="lower"),
        figure(f"{name} {MANY:,} nodes", "µs/event", many, better="lower"),
        figure(f"triage: {MANY:,} nodes over {NODES:,}, promised {PROMISED}", "times", ratios, better="lower"),
    ]


def _cost(triage: Triage, bodies: Sequence[bytes]) -> float:
    """Return the microseconds of processor time that each event of *bodies* takes."""
    events = sum(len(json.loads(body)["events"]) for body in bodies)
    batches = make_batches(bodies)
    triage.rulebooks.current()
    began = time.process_time()
    for batch in batches:
        assert not triage.handle(read_records(batch))
    return (time.process_time() - began) / events * 1e6
