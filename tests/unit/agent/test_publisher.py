import itertools
import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.envelopes import EnvelopeMaker
from agent.lanes import MemoryLane
from agent.publisher import Clocks, Pace, Publisher
from agent.spool.limits import SpoolLimits
from agent.spool.opening import open_spool
from agent.spool.spool import Spool
from policies.contract.envelope import ENVELOPE_LIMIT_BYTES, Envelope, NodeIdentity, parse_envelope
from policies.contract.vocabulary import Severity
from tests.tools.agent_events import START, ManualClock, describe_loss, make_event, memory_folder, new_ids

NODE = NodeIdentity(cluster="c", name="n", instance_id="i-1", instance_type="p5.48xlarge", boot_id="b")


class Station:
    """A publisher between a spool and two lanes in memory, on a clock that goes when told."""

    def __init__(self, spool: Spool, clock: ManualClock, *, overflow: bool = True) -> None:
        self.spool = spool
        self.clock = clock
        self.kinesis = MemoryLane()
        self.overflow = MemoryLane()
        self.jobs = b""
        self.publisher = Publisher(
            spool,
            EnvelopeMaker(NODE, "1.2.3"),
            kinesis=self.kinesis,
            overflow=self.overflow if overflow else None,
            pace=Pace(),
            clocks=Clocks(clock, self.seconds),
            jitter=random.Random(0).random,
            jobs=lambda: self.jobs,
        )

    def seconds(self) -> float:
        return (self.clock.now - START).total_seconds()

    def go_on(self, seconds: float = 0.0) -> None:
        """Let the publisher do all that is due in the next *seconds*."""
        until = self.clock.now + timedelta(seconds=seconds)
        for _ in range(10_000):
            wait = self.publisher.step()
            if wait > 0 and self.clock.now + timedelta(seconds=wait) > until:
                self.clock.now = until
                return
            self.clock.advance(max(wait, 0.0))
        pytest.fail("the publisher spins")


def open_in(folder: Path, clock: ManualClock) -> Iterator[Spool]:
    with open_spool(
        folder,
        owner="i-1",
        boot_id="b",
        limits=SpoolLimits(),
        clock=clock,
        new_id=new_ids(),
        describe_loss=describe_loss,
    ) as spool:
        yield spool


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def spool(tmp_path: Path, clock: ManualClock) -> Iterator[Spool]:
    yield from open_in(tmp_path, clock)


@pytest.fixture
def station(spool: Spool, clock: ManualClock) -> Station:
    return Station(spool, clock)


def envelopes(lane: MemoryLane) -> list[Envelope]:
    found = []
    for key, body in lane.delivered:
        parsed = parse_envelope(body)
        assert not parsed.rejected
        assert key == parsed.envelope.node.instance_id
        found.append(parsed.envelope)
    return found


def seqs(lane: MemoryLane) -> list[list[int]]:
    return [[event.seq for event in envelope.events] for envelope in envelopes(lane)]


def test_what_waits_is_sent_as_one_envelope_and_then_forgotten(station: Station) -> None:
    station.spool.append([make_event("a"), make_event("b")])
    station.go_on()
    (envelope,) = envelopes(station.kinesis)
    assert (envelope.node, envelope.spool_id, envelope.first_seq) == (NODE, station.spool.heartbeat[0], 0)
    assert (envelope.sent_at, envelope.agent_version) == (START, "1.2.3")
    assert [event.attributes["name"] for event in envelope.events] == ["a", "b"]
    assert station.spool.waiting == 0


def test_an_envelope_never_exceeds_its_limit_and_keeps_the_order(station: Station) -> None:
    for number in range(300):
        station.spool.append([make_event(number, message="ä" * 1000)])
    station.go_on()
    assert [seq for envelope in seqs(station.kinesis) for seq in envelope] == list(range(300))
    assert len(station.kinesis.delivered) > 1
    assert max(len(body) for _, body in station.kinesis.delivered) <= ENVELOPE_LIMIT_BYTES


def test_silence_is_broken_by_a_heartbeat_that_names_the_next_seq(station: Station) -> None:
    station.go_on()
    assert seqs(station.kinesis) == [[]]
    station.clock.advance(10)
    station.spool.append([make_event("a")])
    station.go_on(29)
    assert seqs(station.kinesis) == [[], [0]]
    station.go_on(2)
    assert seqs(station.kinesis) == [[], [0], []]
    assert envelopes(station.kinesis)[2].first_seq == 1


def test_how_jobs_go_is_said_with_heartbeats_and_not_with_each_of_many_envelopes(station: Station) -> None:
    station.jobs = b'[{"id":"train/llama","step":7}]'
    station.kinesis.refuses = True
    station.publisher.step()
    station.kinesis.refuses = False
    for second in range(60):
        station.clock.advance(1)
        station.spool.append([make_event(second)])
        station.go_on()
    station.go_on(120)
    said = [envelope.sent_at for envelope in envelopes(station.kinesis) if envelope.jobs]
    gaps = [(later - sooner).total_seconds() for sooner, later in itertools.pairwise(said)]
    assert len(said) == 8
    assert all(15 <= gap <= 45 for gap in gaps)
    assert envelopes(station.kinesis)[0].jobs[0].step == 7


def test_a_lost_answer_means_the_same_events_again_with_a_new_time(station: Station) -> None:
    station.spool.append([make_event("a")])
    station.kinesis.forgets_answers = True
    station.publisher.step()
    station.kinesis.forgets_answers = False
    station.clock.advance(1)
    station.publisher.step()
    first, second = envelopes(station.kinesis)
    assert first.events == second.events
    assert second.sent_at > first.sent_at
    assert station.spool.waiting == 0


def test_refusals_are_answered_by_ever_longer_waits(station: Station) -> None:
    station.spool.append([make_event("a", Severity.INFO)])
    station.kinesis.refuses = True
    tries = 0
    before = station.clock.now
    while station.clock.now - before < timedelta(minutes=5):
        station.clock.advance(station.publisher.step())
        tries += 1
    assert 30 < tries < 150  # 5 s on the average once the cap of 10 s is reached
    station.kinesis.refuses = False
    station.go_on(10)
    assert seqs(station.kinesis) == [[0]]


def test_severe_events_go_through_the_queue_once_kinesis_refuses_for_a_while(station: Station) -> None:
    station.kinesis.refuses = True
    station.spool.append([make_event("dull", Severity.INFO), make_event("bad", Severity.CRITICAL)])
    station.go_on(2)
    assert seqs(station.overflow) == []
    station.go_on(5)
    assert seqs(station.overflow) == [[1]]
    assert station.spool.waiting == 1
    station.spool.append([make_event("worse", Severity.ERROR)])
    station.go_on(0.1)
    assert seqs(station.overflow) == [[1], [2]]
    station.kinesis.refuses = False
    station.go_on(11)
    assert seqs(station.kinesis) == [[0]]
    assert station.spool.waiting == 0


def test_without_a_queue_severe_events_wait_too(spool: Spool, clock: ManualClock) -> None:
    station = Station(spool, clock, overflow=False)
    station.kinesis.refuses = True
    spool.append([make_event("bad", Severity.CRITICAL)])
    station.go_on(60)
    assert spool.waiting == 1


def test_when_both_refuse_nothing_is_lost_and_nobody_is_hammered(station: Station) -> None:
    station.kinesis.refuses = station.overflow.refuses = True
    station.spool.append([make_event("bad", Severity.CRITICAL)])
    station.go_on(120)
    station.overflow.refuses = False
    station.go_on(11)
    assert seqs(station.overflow) == [[0]]
    assert station.spool.waiting == 0


def test_an_error_that_is_no_refusal_leaves_the_events_to_be_sent_again(station: Station) -> None:
    class Broken(MemoryLane):
        def put(self, body: bytes, key: str) -> None:
            msg = "a bug"
            raise ValueError(msg)

    station.spool.append([make_event("a")])
    publisher = Publisher(
        station.spool,
        EnvelopeMaker(NODE, ""),
        kinesis=Broken(),
        overflow=None,
        pace=Pace(),
        clocks=Clocks(station.clock, lambda: 0.0),
        jitter=lambda: 0.5,
    )
    with pytest.raises(ValueError, match="a bug"):
        publisher.step()
    station.go_on()
    assert seqs(station.kinesis) == [[0]]


def test_a_stop_sends_severe_events_by_any_lane_and_says_what_is_left(station: Station) -> None:
    station.kinesis.refuses = True
    station.spool.append([make_event("dull", Severity.INFO), make_event("bad", Severity.CRITICAL)])
    ticks = iter(range(1000))
    station.publisher._clocks = Clocks(station.clock, lambda: next(ticks) * 0.05)
    assert station.publisher.drain(1.0) == 1
    assert seqs(station.overflow) == [[1]]


WEATHER = st.lists(
    st.tuples(
        st.sampled_from(
            ["append", "append severe", "refuse", "accept", "forget", "overflow refuses", "wait", "restart"]
        ),
        st.floats(0.0, 8.0),
    ),
    max_size=30,
)


@given(WEATHER)
def test_in_any_weather_every_seq_arrives_and_no_seq_means_two_things(weather: list[tuple[str, float]]) -> None:
    with memory_folder() as name:
        clock, made = ManualClock(), 0
        opened = open_in(Path(name), clock)
        station = Station(next(opened), clock)
        lanes = (station.kinesis, station.overflow)
        for what, seconds in weather:
            if what.startswith("append"):
                severity = Severity.ERROR if what == "append severe" else Severity.INFO
                station.spool.append([make_event(made, severity)])
                made += 1
            elif what == "restart":
                next(opened, None)
                opened = open_in(Path(name), clock)
                station = Station(next(opened), clock)
                station.kinesis, station.overflow = lanes
                station.publisher._kinesis.lane = station.kinesis
                assert station.publisher._overflow is not None
                station.publisher._overflow.lane = station.overflow
            else:
                station.kinesis.refuses = what in {"refuse", "overflow refuses"}
                station.kinesis.forgets_answers = what == "forget"
                station.overflow.refuses = what == "overflow refuses"
            station.go_on(seconds)
        station.kinesis.refuses = station.kinesis.forgets_answers = station.overflow.refuses = False
        station.go_on(60)
        arrived: dict[int, set[str]] = {}
        for lane in lanes:
            for envelope in envelopes(lane):
                for event in envelope.events:
                    arrived.setdefault(event.seq, set()).add(str(event.attributes["name"]))
        assert arrived == {seq: {str(seq)} for seq in range(made)}
        assert station.spool.waiting == 0
        next(opened, None)


def test_an_envelope_names_the_driver_of_its_moment() -> None:
    loaded = [""]
    maker = EnvelopeMaker(NODE, "1.2.3", lambda: loaded[0])
    told = []
    for version in ("", "570.148.08", "570.148.08", "580.95.05"):
        loaded[0] = version
        told.append(parse_envelope(maker.make("s", 0, [], START)).envelope.node.driver_version)
    assert told == ["", "570.148.08", "570.148.08", "580.95.05"]
