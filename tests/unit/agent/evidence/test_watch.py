import threading
from datetime import timedelta

import pytest

from agent.evidence.request import EvidenceManifest, EvidenceRequest
from agent.evidence.watch import FaultWatch, RecentEvents, is_fatal
from policies.contract.events import Component, FaultEvent, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Severity, Source
from tests.tools.agent_events import START

GO_ON = threading.Event()


class Asked:
    """An `Evidence` that notes what was asked."""

    def __init__(self) -> None:
        self.requests: list[EvidenceRequest] = []

    def collect(self, request: EvidenceRequest) -> EvidenceManifest:
        self.requests.append(request)
        return EvidenceManifest(request.id, request.reason, "i", "b", "", "", "", "", uploaded=False, parts=())


def event(
    kind: Kind = Kind.GPU_XID,
    severity: Severity = Severity.CRITICAL,
    *,
    name: str = "a",
    pci: str = "0000:4b:00",
    minutes_ago: float = 0,
    **attributes: Scalar,
) -> FaultEvent:
    at = START - timedelta(minutes=minutes_ago)
    return FaultEvent(
        id=name * 32,
        seq=0,
        kind=kind,
        severity=severity,
        source=Source.KERNEL_LOG,
        observed_at=at,
        first_observed_at=at,
        component=Component(type=ComponentType.GPU, pci=pci),
        attributes=attributes,
        message="",
    )


class Bench:
    """A watch over a clock that is turned by hand."""

    def __init__(self, per_hour: int = 4) -> None:
        self.now = 0.0
        self.asked = Asked()
        self.watch = FaultWatch(
            self.asked, per_hour, clock=lambda: START + timedelta(seconds=self.now), ticks=lambda: self.now
        )

    def hear(self, *events: FaultEvent) -> list[str]:
        self.watch.hear(events)
        self.watch.step(GO_ON)
        return [request.id[0] for request in self.asked.requests]


@pytest.mark.parametrize(
    ("heard", "fatal"),
    [
        (event(), True),
        (event(Kind.GPU_LOST, Severity.CRITICAL), True),
        (event(Kind.TRAINING_COLLECTIVE_TIMEOUT, Severity.ERROR), True),
        (event(Kind.PROCESS_HUNG, Severity.ERROR), True),
        (event(severity=Severity.ERROR), False),
        (event(Kind.TRAINING_STALLED, Severity.WARNING), False),
        (event(before_boot=True), False),
        (event(ongoing=True), False),
        (event(Kind.PIPELINE_GAP), False),
    ],
)
def test_what_may_end_the_run_is_worth_evidence(heard: FaultEvent, fatal: bool) -> None:
    assert is_fatal(heard) is fatal


def test_companions_of_one_fault_are_collected_for_once() -> None:
    bench = Bench()
    companions = [event(name="a", occurrence="o"), event(Kind.GPU_LOST, name="b", occurrence="o")]
    assert bench.hear(*companions) == ["a"]
    assert bench.hear(event(name="c", occurrence="o")) == ["a"]
    assert bench.hear(event(name="d", pci="0000:9d:00", xid=79)) == ["a", "d"]
    assert bench.hear(event(name="e", pci="0000:9d:00", xid=79)) == ["a", "d"]


def test_an_hour_begins_no_more_collections_than_it_may_and_the_next_one_does() -> None:
    bench = Bench(per_hour=2)
    for number, name in enumerate("abc"):
        bench.hear(event(name=name, xid=number))
    assert [request.id[0] for request in bench.asked.requests] == ["a", "b"]
    assert bench.watch.left_out == 1
    bench.now = 3601
    later = event(name="d", xid=9).model_copy(update={"observed_at": START + timedelta(seconds=3601)})
    assert bench.hear(later) == ["a", "b", "d"]


def test_none_an_hour_is_none() -> None:
    assert Bench(per_hour=0).hear(event()) == []


def test_a_log_that_is_read_from_its_beginning_is_history() -> None:
    assert Bench().hear(event(minutes_ago=60)) == []


def test_what_was_told_last_is_kept_in_order_and_bounded() -> None:
    recent = RecentEvents()
    recent.hear([event(name="a"), event(name="b")])
    assert [line[7] for line in recent.lines()] == ["a", "b"]
    recent.hear([event(name="c")] * 1000)
    assert len(list(recent.lines())) == 500


def test_hearing_never_waits_for_a_collection() -> None:
    bench = Bench()
    bench.watch.hear([event(name=name, xid=number) for number, name in enumerate("abcdef0123456789")])
    bench.watch.step(GO_ON)
    assert len(bench.asked.requests) == 4
