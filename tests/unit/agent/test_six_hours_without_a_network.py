"""A clock that goes when told: what was seen in six hours without a network arrives afterwards, in order."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.coalesce import Seen
from agent.envelopes import EnvelopeMaker
from agent.events import EventMaker, loss_event
from agent.follow.reader import FixedPlace, LogRecord
from agent.follow.work import LogWork
from agent.kernel_log.record import parse_record
from agent.kernel_log.source import NAME, KernelClassifier
from agent.lanes import MemoryLane
from agent.publisher import Clocks, Pace, Publisher
from agent.spool.limits import SpoolLimits
from agent.spool.opening import open_spool
from agent.spool.spool import Spool
from policies.contract.envelope import Envelope, NodeIdentity, parse_envelope
from policies.contract.events import FaultEvent, JobRef
from policies.contract.vocabulary import Kind, Source
from tests.tools.agent_events import START, ManualClock, new_ids

NODE = NodeIdentity(cluster="c", name="n", instance_id="i-1", instance_type="p5.48xlarge", boot_id="b")
HOURS = 6
# One each ten seconds, as a node with several sick parts says them: a code, a part.
CODES = (13, 31, 43, 45, 63, 74, 79, 94, 95, 119, 154)


def job(_seen: Seen) -> JobRef:
    return JobRef(id="ns/run", rank=3)


class Node:
    """Reads what the test says into a spool, and sends it when it can."""

    def __init__(self, spool: Spool, clock: ManualClock) -> None:
        self.spool = spool
        self.clock = clock
        self.kinesis, self.overflow = MemoryLane(), MemoryLane()
        self.work = LogWork(NAME, spool, EventMaker(NODE, Source.KERNEL_LOG, job), KernelClassifier(START).classify)
        self.publisher = Publisher(
            spool,
            EnvelopeMaker(NODE, "1"),
            kinesis=self.kinesis,
            overflow=self.overflow,
            pace=Pace(),
            clocks=Clocks(clock, self.seconds),
            jitter=random.Random(0).random,
        )
        self.said = 0

    def seconds(self) -> float:
        return (self.clock.now - START).total_seconds()

    def say(self, code: int, pci: str) -> None:
        self.said += 1
        text = f"3,{self.said},{int(self.seconds() * 1e6)},-;NVRM: Xid (PCI:{pci}): {code}, pid=1, name=python"
        place = FixedPlace({"boot": "b", "seq": self.said})
        self.work.take([LogRecord(parse_record(text), str(self.said), self.clock.now, place)])

    def live(self, seconds: int) -> None:
        """Let *seconds* pass with a fault every ten of them."""
        for number in range(seconds // 10):
            self.say(CODES[number % len(CODES)], f"0000:{number % 8:02x}:00")
            self.go_on(10)

    def go_on(self, seconds: float) -> None:
        until = self.seconds() + seconds
        while (wait := self.publisher.step()) <= 0 or self.seconds() + wait < until:
            self.clock.advance(max(wait, 0.0))
        self.clock.advance(until - self.seconds())

    def network(self, *, there: bool) -> None:
        self.kinesis.refuses = self.overflow.refuses = not there


@contextmanager
def node(folder: Path, max_bytes: int) -> Iterator[Node]:
    clock = ManualClock()
    with open_spool(
        folder,
        owner="i-1",
        boot_id="b",
        limits=SpoolLimits(max_bytes),
        clock=clock,
        new_id=new_ids(),
        describe_loss=lambda spool_id, loss: loss_event(NODE, spool_id, loss, clock()),
    ) as spool:
        yield Node(spool, clock)


def arrived(lane: MemoryLane) -> list[FaultEvent]:
    envelopes: list[Envelope] = [parse_envelope(body).envelope for _, body in lane.delivered]
    return [event for envelope in envelopes for event in envelope.events]


def test_all_of_it_arrives_afterwards_in_order(tmp_path: Path) -> None:
    with node(tmp_path, 8 << 20) as one:
        one.network(there=False)
        one.live(HOURS * 3600)
        assert not one.kinesis.delivered
        one.network(there=True)
        one.go_on(60)
        one.work.finish()
        one.go_on(60)
        events = sorted(arrived(one.kinesis) + arrived(one.overflow), key=lambda event: event.seq)
        assert one.spool.waiting == 0
    assert [event.seq for event in events] == list(range(len(events)))
    assert sum(event.count for event in events) == one.said == HOURS * 360
    for lane in (one.kinesis, one.overflow):
        seqs = [event.seq for event in arrived(lane)]
        assert seqs == sorted(seqs)
    assert [event.observed_at for event in events] == sorted(event.observed_at for event in events)


def test_when_there_is_no_room_the_least_severe_go_and_that_is_told(tmp_path: Path) -> None:
    with node(tmp_path, 256 * 1024) as one:
        one.network(there=False)
        one.live(HOURS * 3600)
        one.network(there=True)
        one.go_on(60)
        one.work.finish()
        one.go_on(60)
        events = sorted(arrived(one.kinesis) + arrived(one.overflow), key=lambda event: event.seq)
    lost = [event for event in events if event.kind is Kind.PIPELINE_OVERFLOWED]
    there = {event.seq for event in events}
    gone = set(range(events[-1].seq + 1)) - there
    ranges = [range(int(event.attributes["first_seq"]), int(event.attributes["last_seq"]) + 1) for event in lost]
    told = {seq for one in ranges for seq in one}
    assert gone
    assert gone <= told
    faults = [event for event in events if event.kind is Kind.GPU_XID]
    assert {event.severity for event in faults if event.seq < lost[-1].seq} == {"critical"}  # the others had to go
    assert sum(int(event.attributes["lost"]) for event in lost) == len(gone)
