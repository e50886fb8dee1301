"""How many events one core takes from record bytes to decisions, and where the time goes.

The mix is made from a fixed seed: 2,000 nodes; a sick one sends a burst (a fault that meets a shipped policy, repeated
by its driver, with companions), a well one a few unremarkable events. Ports are in memory: what is measured is our own
work, all of it, from the base64 of a Lambda event to the JSON of messages and states, in seconds of processor time, so
that a busy machine does not count against it.
"""

import gc
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from functions.triage.batching import pack
from functions.triage.collector import calm_collector
from functions.triage.facts import FactBook
from functions.triage.records import Record, read_records
from functions.triage.rulebooks import Rulebooks
from functions.triage.seen import SeenBook
from functions.triage.sorting import sort_records
from functions.triage.triage import Triage
from functions.twins.facts import MemoryFacts
from functions.twins.triage import MemoryDecisions, MemoryNodeStates, MemoryRejects, MemorySeen, MemoryTelemetry
from policies.clock_correction import ClockCorrection
from policies.contract.identifiers import stable_id
from policies.contract.times import format_time
from policies.evaluator import Delivery, Evaluation, evaluate
from policies.rulebook import Rulebook
from policies.sequences import Sequences
from tests.bench.measure import Figure, figure, repeat
from tests.tools.envelopes import NOW, kinesis_event, shipped
from tests.tools.policy_table import in_force

SEED = 20_260_301
NODES = 2_000
RECORDS_A_BATCH = 500  # as infra/triggers.py sets it
RUNS = 5
Document = dict[str, Any]
Line = tuple[str, Document, str]
TELLING: tuple[Line, ...] = (
    ("gpu.xid", {"xid": 79, "process": "python"}, "pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
    ("gpu.xid", {"xid": 48, "pid": 4711, "process": "python"}, "pid=4711, name=python, DBE (double bit error)"),
    ("gpu.xid", {"xid": 94, "pid": 4711}, "pid=4711, name=python, Contained: SM (0x1). RST: No, D-RST: No"),
    ("gpu.xid", {"xid": 63}, "pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping"),
    ("gpu.xid", {"xid": 13, "pid": 4711}, "pid=4711, name=python, Graphics SM Warp Exception: Illegal Instruction"),
)
QUIET: tuple[Line, ...] = (
    ("gpu.xid", {"xid": 45, "pid": 4711}, "pid=4711, name=python, Ch 00000008"),
    ("pcie.corrected", {"status": "00000001"}, "AER: Corrected error message received"),
    ("network.port_errors", {"port": 1, "symbol_errors": 3}, ""),
    ("storage.nfs_recovered", {"server": "fs-1"}, "nfs: server fs-1 OK"),
    ("host.memory_corrected", {"dimm": "A1"}, "EDAC MC0: 1 CE memory read error"),
)


def make_bodies(first: int = 0, nodes: int = NODES) -> list[bytes]:
    """Return the envelopes of the mix, one of each of so many *nodes* from number *first* on, in a mixed order."""
    chance = random.Random(SEED + first)
    bodies = [_body(chance, number) for number in range(first, first + nodes)]
    chance.shuffle(bodies)
    return bodies


def shell_of(number: int) -> Document:
    """Return what envelopes of node *number* begin with."""
    node = {
        "cluster": f"cluster-{number % 4}",
        "name": f"ip-10-0-{number // 250}-{number % 250}.ec2.internal",
        "instance_id": f"i-{number:017x}",
        "instance_type": "p5.48xlarge",
        "availability_zone": "us-east-1a",
        "network_path": ["nn-0", f"nn-{number % 40}", f"nn-{number % 400}"],
        "boot_id": stable_id("boot", number),
    }
    return {"schema_version": 1, "node": node, "spool_id": stable_id("spool", number)}


def _body(chance: random.Random, number: int) -> bytes:
    sick = chance.random() < 0.5
    told: list[Line] = [chance.choice(TELLING)] * chance.randint(4, 12) if sick else []
    told += [chance.choice(QUIET) for _ in range(chance.randint(1, 5))]
    gpu = chance.randrange(8)
    events = [_event(chance, number, seq, gpu, *one) for seq, one in enumerate(told)]
    shell = {**shell_of(number), "first_seq": 0}
    more = {"sent_at": format_time(NOW), "agent_version": "0.1.0", "events": events}
    return json.dumps({**shell, **more}, separators=(",", ":")).encode()


def _event(
    chance: random.Random, number: int, seq: int, gpu: int, kind: str, attributes: Document, text: str
) -> Document:
    moment = format_time(NOW - timedelta(milliseconds=chance.randrange(8_000)))
    return {
        "id": stable_id("event", number, seq),
        "seq": seq,
        "kind": kind,
        "severity": chance.choice(["warning", "error", "critical"]),
        "persistence": "unknown",
        "source": "kernel_log",
        "observed_at": moment,
        "first_observed_at": moment,
        "count": chance.choice([1, 1, 1, 3, 32]),
        "component": {"type": "gpu", "pci": f"0000:{0x18 + gpu:02x}:00"},
        "job": {"id": "train/llm", "orchestrator": "eks", "rank": number * 8 + gpu, "step": 10_200},
        "attributes": attributes,
        "message": f"NVRM: Xid (PCI:0000:{0x18 + gpu:02x}:00): {attributes.get('xid', 0)}, {text}" if text else "",
    }


def make_triage() -> Triage:
    """Return triage over ports in memory, with all shipped policies in force."""
    telemetry = MemoryTelemetry()
    return Triage(
        states=MemoryNodeStates(),
        rulebooks=Rulebooks(in_force(), telemetry),
        rejects=MemoryRejects(),
        decisions=_Encoding(),
        seen=SeenBook(MemorySeen()),
        telemetry=telemetry,
        clock=lambda: NOW,
        facts=FactBook(MemoryFacts(), telemetry),
    )


class _Encoding(MemoryDecisions):
    """Encodes what it is handed, as the SQS adapter does, and keeps nothing."""

    def send(self, message: Any) -> None:  # noqa: ANN401 - see the port
        assert message.to_json()
        assert message.deduplication_id


def make_batches(bodies: Sequence[bytes]) -> list[Document]:
    return [
        kinesis_event(*bodies[start : start + RECORDS_A_BATCH], first=start + 1)
        for start in range(0, len(bodies), RECORDS_A_BATCH)
    ]


def figures() -> list[Figure]:
    """Measure the whole way, then each stage by itself."""
    with calm():
        return _figures()


@contextmanager
def calm() -> Iterator[None]:
    """Set the collector as the function sets it, for as long as is measured."""
    thresholds = gc.get_threshold()
    calm_collector()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)


def _figures() -> list[Figure]:
    bodies = make_bodies()
    batches = make_batches(bodies)
    events, matching = _count(bodies)
    assert matching >= events / 2, "the mix must meet rules as often as the promise says"

    def whole() -> float:
        triage = make_triage()
        triage.rulebooks.current()
        began = time.process_time()
        for batch in batches:
            assert not triage.handle(read_records(batch))
        return events / (time.process_time() - began)

    return [
        figure("triage: record bytes to decisions, one core", "events/s", repeat(whole, RUNS), better="higher"),
        figure("triage: events of the mix that meet a rule", "%", [100 * matching / events], better="higher"),
        *_stages(bodies, batches, events),
    ]


def _count(bodies: Sequence[bytes]) -> tuple[int, int]:
    rulebook = shipped()
    judged = [_judge(deliveries, rulebook) for deliveries in _deliveries(read_records(kinesis_event(*bodies)))]
    return sum(one.events for one in judged), sum(one.matches for one in judged)


def _deliveries(records: Sequence[Record]) -> list[list[Delivery]]:
    return [[one.delivery for one in arrivals] for arrivals in sort_records(records).nodes.values()]


def _judge(deliveries: Sequence[Delivery], rulebook: Rulebook, state: str = "") -> Evaluation:
    return evaluate(deliveries, state=state, rulebook=rulebook, now=NOW)


def _stages(bodies: Sequence[bytes], batches: Sequence[Document], events: int) -> list[Figure]:
    nodes = _deliveries(read_records(kinesis_event(*bodies)))
    rulebook = shipped()
    judged = [_judge(deliveries, rulebook) for deliveries in nodes]
    findings = [finding for one in judged for finding in one.findings]
    stages: list[tuple[str, Callable[[], object]]] = [
        (
            "parse (base64, JSON, validation, by node)",
            lambda: sum(len(sort_records(read_records(one)).nodes) for one in batches),
        ),
        ("seen (sequence ranges), a part of evaluate", lambda: [_seen(deliveries) for deliveries in nodes]),
        ("clock correction, a part of evaluate", lambda: [_clock(deliveries) for deliveries in nodes]),
        ("evaluate (seen, clock, rules, windows, findings, state)", lambda: [_judge(one, rulebook) for one in nodes]),
        ("evaluate what was seen before", lambda: [_judge(*pair) for pair in _again(nodes, rulebook, judged)]),
        ("findings into messages", lambda: [(one.to_json(), one.deduplication_id) for one in pack(findings)]),
    ]
    return [
        figure(f"triage: {name}", "µs/event", repeat(_timed(run, events), RUNS), better="lower") for name, run in stages
    ]


def _seen(deliveries: Sequence[Delivery]) -> Sequences:
    spool = Sequences("spool")
    for one in deliveries:
        for event in one.parsed.envelope.events:
            spool.take(event.seq)
    return spool


def _clock(deliveries: Sequence[Delivery]) -> int:
    newest = 0
    for one in deliveries:
        clock = ClockCorrection(one.parsed.envelope.sent_at, one.arrived_at)
        for event in one.parsed.envelope.events:
            newest = clock.moment_ms(event.observed_at)
    return newest


def _again(
    nodes: Sequence[list[Delivery]], rulebook: Rulebook, judged: Sequence[Evaluation]
) -> list[tuple[list[Delivery], Rulebook, str]]:
    return [(deliveries, rulebook, one.state) for deliveries, one in zip(nodes, judged, strict=True)]


def _timed(run: Callable[[], object], events: int) -> Callable[[], float]:
    def timed() -> float:
        began = time.process_time()
        run()
        return (time.process_time() - began) / events * 1e6

    return timed
