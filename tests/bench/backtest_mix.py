"""A month of a fleet as its archive has it, and the mix of `tests.bench.triage` as an archive that no cluster has.

The fleet: 2,000 nodes of 8 GPUs in four clusters, 33,333 events a day. What is taken from where, by day:

- 13 nodes break: 6.5 failures in 1,000 node-days (Kokolis et al., "Revisiting Reliability in Large-Scale Machine
  Learning Research Clusters", RSC-1; Llama 3's 466 interruptions in 54 days on 2,048 such nodes are 8.6 a day). Four
  print an Xid and are gone. Three print one until their run gives up (NCCL's ten minutes). Three have what the agent
  measures and tells again each ten minutes all day (a power brake, heat). The others have links or memory that correct
  errors for hours, told as the agent coalesces them (agent/coalesce.py): the first record of each part, its delta
  after 10 s, then after 20, 40 and each 60 s.
- 40 runs end by a fault of their own program, on one node with some of its GPUs (in RSC most jobs that fail do).
- 45 of 100 events are what healthy nodes say: a few corrected errors, a mount that is back.

The policies in force are the shipped ones, in shadow as they are shipped: nobody replaces what is sick.

Heartbeats are thinned to four a day and node, of 2,880: an archive holds them all, and what one costs is a figure of
its own. The same seed makes the same bytes.
"""

import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from policies.contract.archive import ArchivedRecord
from policies.contract.identifiers import stable_id
from policies.contract.times import format_time
from tests.bench.triage import NODES, QUIET, SEED, TELLING, Line, _body, shell_of
from tests.tools.envelopes import NOW

EVENTS_A_DAY = 1_000_000 // 30
BROKEN_A_DAY = round(NODES * 6.5 / 1000)
CRASHES_A_DAY = 40
BEATS_A_DAY = 4
NOISE_SHARE = 0.45  # of the events; the rest are faults, of which those of sick nodes are as many as it takes
GPUS = 8
_WINDOWS = (0, 10, 30, 70)  # seconds after which the agent tells of a storm at first; then once a minute
DAY = 86_400
AGAIN = 600  # seconds until the agent tells again what it measures and what still holds (agent/polls/reading.py)
EVERY = timedelta(minutes=10)
NOISE: tuple[Line, ...] = (QUIET[1], QUIET[3], QUIET[4])
ONCE = TELLING[:4]
UNTIL_THE_RUN_ENDS: tuple[Line, ...] = (
    ("gpu.xid", {"xid": 74, "link": 3}, "NVLink: fatal error detected on link 3(0x10000, 0x0, 0x0)"),
    ("gpu.xid", {"xid": 119, "function": 76}, "Timeout after 6s of waiting for RPC response from GPU GSP!"),
    TELLING[2],
)
LASTING: tuple[Line, ...] = (
    ("gpu.slowdown", {"reason": "power_brake", "minutes_of_ten": 9}, ""),
    ("gpu.overheated", {"reason": "core", "temperature": 92}, ""),
)
CORRECTED: tuple[tuple[Line, int], ...] = (  # and how many parts of a node have it
    (QUIET[1], GPUS),
    (QUIET[4], 2),
    (("gpu.xid", {"xid": 92}, "High single-bit ECC error rate"), 4),
    (("network.port_errors", {"port": 1, "symbol_errors": 40}, ""), 4),
)
CRASHES: tuple[Line, ...] = (
    TELLING[4],
    (
        "gpu.xid",
        {"xid": 31, "pid": 4711},
        "pid=4711, name=python, MMU Fault: ENGINE GRAPHICS faulted @ 0x7f3a_b2000000",
    ),
)
Document = dict[str, Any]
Told = tuple[int, int, list[tuple[Line, int, int]]]  # second of the day, node, (what, part, count)


def honest(events: int) -> Iterator[ArchivedRecord]:
    """Yield the records of so many days that there are *events* (a few more), in the order of arrival."""
    chance = random.Random(SEED)
    nodes = [_Node(number) for number in range(NODES)]
    total = day = 0
    while total < events:
        for second, number, told in _day(chance):
            at = NOW + timedelta(days=day, seconds=second, microseconds=number)
            total += len(told)
            yield nodes[number].tells(at, told)
        day += 1


def dense(events: int) -> Iterator[ArchivedRecord]:
    """Yield the mix of triage's bench each ten minutes: half of the fleet sick all day, and fresh faults in each."""
    stories = [json.loads(_body(random.Random(SEED + number), number)) for number in range(NODES)]
    total = turn = 0
    while total < events:
        for number, story in enumerate(stories):
            arrived = NOW + turn * EVERY + number * EVERY / NODES
            total += len(story["events"])
            body = json.dumps(_retold(story, number, turn, arrived - NOW), separators=(",", ":")).encode()
            yield ArchivedRecord(arrived, "faults", f"{turn:06d}-{number:06d}", body)
        turn += 1


def beats(records: int) -> Iterator[ArchivedRecord]:
    """Yield so many heartbeats as they come, each node's every 30 s."""
    nodes = [_Node(number) for number in range(NODES)]
    for number in range(records):
        at = NOW + timedelta(seconds=30 * number / NODES)
        yield nodes[number % NODES].tells(at, [])


def _day(chance: random.Random) -> list[Told]:
    told: list[Told] = [
        (step * DAY // BEATS_A_DAY + number * 10 % (DAY // BEATS_A_DAY), number, [])
        for number in range(NODES)
        for step in range(BEATS_A_DAY)
    ]
    quiet = round(EVENTS_A_DAY * NOISE_SHARE)
    for _ in range(quiet // 2):
        line, part = chance.choice(NOISE), chance.randrange(GPUS)
        told.append((chance.randrange(DAY), chance.randrange(NODES), [(line, part, 1), (line, part, 3)]))
    for _ in range(CRASHES_A_DAY):
        gpus = range(chance.choice((1, 1, 2, GPUS)))
        line = chance.choice(CRASHES)
        told.append((chance.randrange(DAY), chance.randrange(NODES), [(line, part, 1) for part in gpus]))
    for _ in range(4):
        line, part = chance.choice(ONCE), chance.randrange(GPUS)
        told.append((chance.randrange(DAY), chance.randrange(NODES), [(line, part, 1), (line, part, 3)]))
    for _ in range(3):
        told += _storm(chance, chance.choice(UNTIL_THE_RUN_ENDS), chance.choice((1, 2)), 12)
        told += _lasting(chance)
    storms = BROKEN_A_DAY - 10
    left = EVENTS_A_DAY - sum(len(each[2]) for each in told)
    for number in range(storms):
        line, parts = chance.choice(CORRECTED)
        share = left // (storms - number)
        mine = list(_storm(chance, line, parts, min(share // parts, DAY // 60 - 2)))
        told, left = told + mine, left - parts * len(mine)
    return sorted(told, key=lambda each: each[:2])


def _storm(chance: random.Random, line: Line, parts: int, turns: int) -> Iterator[Told]:
    """Yield what a node tells whose *parts* repeat the same: all at once, since they began together."""
    node = chance.randrange(NODES)
    seconds = [*_WINDOWS, *range(130, 130 + 60 * turns, 60)][:turns]
    begun = chance.randrange(DAY - seconds[-1])
    for second in seconds:
        count = 1 if second == 0 else chance.randrange(10, 4_000)
        yield begun + second, node, [(line, part, count) for part in range(parts)]


def _lasting(chance: random.Random) -> Iterator[Told]:
    """Yield what a node tells of which all GPUs are slow, or hot, all day."""
    node, (kind, attributes, text) = chance.randrange(NODES), chance.choice(LASTING)
    name = f"{chance.getrandbits(128):032x}"
    for second in range(chance.randrange(AGAIN), DAY, AGAIN):
        ongoing = {"ongoing": True, "occurrence": name} if second >= AGAIN else {}
        lines = [(kind, {**attributes, **ongoing, "gpu": part}, text) for part in range(GPUS)]
        yield second, node, [(line, part, 1) for part, line in enumerate(lines)]


class _Node:
    """A node as it tells: its envelope, and how far its spool is."""

    def __init__(self, number: int) -> None:
        self._number, self._seq = number, 0
        self._shell = shell_of(number)

    def tells(self, at: datetime, told: list[tuple[Line, int, int]]) -> ArchivedRecord:
        moment = format_time(at - timedelta(milliseconds=40))
        events = [self._event(moment, seq, *one) for seq, one in enumerate(told, self._seq)]
        more = {"first_seq": self._seq, "sent_at": moment, "agent_version": "0.1.0", "events": events}
        self._seq += len(told)
        body = json.dumps({**self._shell, **more}, separators=(",", ":")).encode()
        return ArchivedRecord(at, "faults", f"{int(at.timestamp() * 1e6):020d}-{self._number}-{self._seq}", body)

    def _event(self, moment: str, seq: int, line: Line, part: int, count: int) -> Document:
        kind, attributes, text = line
        return {
            "id": stable_id("event", self._number, seq),
            "seq": seq,
            "kind": kind,
            "severity": "error",
            "persistence": "unknown",
            "source": "kernel_log",
            "observed_at": moment,
            "first_observed_at": moment,
            "count": count,
            "component": {"type": "gpu", "pci": f"0000:{0x18 + part:02x}:00"},
            "job": {"id": f"train/llm-{self._number // 64}", "orchestrator": "eks", "rank": part, "step": 10_200},
            "attributes": attributes,
            "message": f"NVRM: Xid (PCI:0000:{0x18 + part:02x}:00): {attributes.get('xid', 0)}, {text}" if text else "",
        }


def _retold(story: Document, number: int, turn: int, later: timedelta) -> Document:
    """Return the *story* of a node as it is told so much *later*."""
    first, moment = turn * len(story["events"]), format_time(NOW + later)
    events = [
        {**event, "seq": seq, "id": stable_id("event", number, seq), "observed_at": moment, "first_observed_at": moment}
        for seq, event in enumerate(story["events"], first)
    ]
    return {**story, "first_seq": first, "sent_at": moment, "events": events}
