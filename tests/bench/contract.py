"""What the wire form costs: reading an envelope from its bytes."""

import json
import time

from policies.contract.envelope import parse_envelope
from policies.contract.identifiers import event_id
from tests.bench.measure import Figure, figure, repeat

EVENTS = 100
ROUNDS = 50


def _body() -> bytes:
    event = {
        "kind": "gpu.xid",
        "severity": "critical",
        "source": "kernel_log",
        "observed_at": "2026-03-01T10:00:00.000001Z",
        "first_observed_at": "2026-03-01T10:00:00.000001Z",
        "component": {"type": "gpu", "pci": "0000:4b:00"},
        "attributes": {"xid": 79, "process": "python"},
        "message": "NVRM: Xid (PCI:0000:4b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    }
    ids = [event_id(node="i-1", boot_id="b", source="kernel_log", cursor=seq) for seq in range(EVENTS)]
    events = [{**event, "id": name, "seq": seq} for seq, name in enumerate(ids)]
    node = {"cluster": "c", "name": "n", "instance_id": "i-1"}
    shell = {"schema_version": 1, "node": node, "spool_id": "s", "first_seq": 0, "sent_at": "2026-03-01T10:00:01Z"}
    return json.dumps({**shell, "events": events}).encode()


def figures() -> list[Figure]:
    body = _body()

    def run() -> float:
        began = time.perf_counter()
        for _ in range(ROUNDS):
            parse_envelope(body)
        return (time.perf_counter() - began) / (ROUNDS * EVENTS) * 1e6

    return [figure("contract: parse an envelope of 100 events", "µs/event", repeat(run), better="lower")]
