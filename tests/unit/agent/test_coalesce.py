import json
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.coalesce import MAX_BURSTS, MAX_BURSTS_A_KIND, WINDOW_MICROSECONDS, Coalescer, Seen, burst_key
from agent.events import EventMaker
from agent.parsers.sighting import Sighting
from policies.contract.envelope import NodeIdentity
from policies.contract.events import Component, FaultEvent
from policies.contract.vocabulary import ComponentType, Kind, Severity, Source
from tests.tools.agent_events import START

NODE = NodeIdentity(cluster="c", name="n", instance_id="i-1", boot_id="b")
SECOND = 1_000_000
make_event = EventMaker(NODE, Source.KERNEL_LOG, lambda _seen: None).event


def seen(
    cursor: int, seconds: float, xid: int = 79, pci: str = "0000:4b:00", severity: Severity = Severity.ERROR
) -> Seen:
    component = Component(type=ComponentType.GPU, pci=pci)
    sighting = Sighting(Kind.GPU_XID, severity, component, {"xid": xid, "pid": cursor})
    return Seen(sighting, str(cursor), int(seconds * SECOND), START + timedelta(seconds=seconds), f"line {cursor}")


def of_kind(one: Seen, kind: Kind) -> Seen:
    return replace(one, sighting=replace(one.sighting, kind=kind))


def test_the_first_goes_at_once_and_the_rest_of_its_window_as_one_delta() -> None:
    coalescer = Coalescer(make_event)
    (first,) = coalescer.take(seen(1, 0))
    assert (first.count, first.message) == (1, "line 1")
    assert coalescer.take(seen(2, 1)) == []
    assert coalescer.take(seen(3, 9.9)) == []
    assert coalescer.elapse(9 * SECOND) == []
    (delta,) = coalescer.elapse(10 * SECOND)
    assert (delta.count, delta.message) == (2, "line 2")
    assert (delta.first_observed_at, delta.observed_at) == (
        START + timedelta(seconds=1),
        START + timedelta(seconds=9.9),
    )
    assert delta.id != first.id
    assert coalescer.elapse(11 * SECOND) == []


def test_a_record_behind_the_window_ends_it_and_goes_at_once() -> None:
    coalescer = Coalescer(make_event)
    coalescer.take(seen(1, 0))
    coalescer.take(seen(2, 1))
    delta, again = coalescer.take(seen(3, 10))
    assert [delta.message, again.message] == ["line 2", "line 3"]


def test_a_single_record_makes_no_delta() -> None:
    coalescer = Coalescer(make_event)
    coalescer.take(seen(1, 0))
    assert coalescer.elapse(100 * SECOND) == []
    assert coalescer.flush() == []


def test_codes_and_components_are_bursts_of_their_own_and_processes_of_a_gpu_are_not() -> None:
    coalescer = Coalescer(make_event)
    assert len(coalescer.take(seen(1, 0, xid=79))) == 1
    assert len(coalescer.take(seen(2, 0, xid=48))) == 1
    assert len(coalescer.take(seen(3, 0, xid=79, pci="0000:5b:00"))) == 1
    assert coalescer.take(seen(4, 0, xid=79)) == []


def test_where_the_process_is_the_fault_each_is_a_burst() -> None:
    first = Sighting(Kind.HOST_OOM_KILL, Severity.ERROR, None, {"pid": 1})
    other = Sighting(Kind.HOST_OOM_KILL, Severity.ERROR, None, {"pid": 2})
    assert burst_key(first) != burst_key(other)


def test_a_delta_is_as_severe_as_its_worst_record() -> None:
    coalescer = Coalescer(make_event)
    coalescer.take(seen(1, 0, severity=Severity.WARNING))
    coalescer.take(seen(2, 0, severity=Severity.CRITICAL))
    coalescer.take(seen(3, 0, severity=Severity.INFO))
    (delta,) = coalescer.flush()
    assert (delta.severity, delta.count) == (Severity.CRITICAL, 2)


def test_a_clock_that_begins_anew_is_another_boot() -> None:
    coalescer = Coalescer(make_event)
    coalescer.take(seen(1, 5000))
    assert len(coalescer.take(seen(2, 3))) == 1


def test_rubbish_cannot_open_bursts_without_end() -> None:
    coalescer = Coalescer(make_event)
    told = [
        event for number in range(MAX_BURSTS + 50) for event in coalescer.take(seen(number, number / 1000, xid=number))
    ]
    assert [event.attributes.get("folded", False) for event in told] == [False] * MAX_BURSTS_A_KIND + [True]
    (rest,) = coalescer.flush()
    assert (rest.count, rest.component) == (MAX_BURSTS - MAX_BURSTS_A_KIND + 49, Component(type=ComponentType.GPU))


def test_rubbish_of_many_kinds_cannot_either() -> None:
    coalescer = Coalescer(make_event)
    for number in range(MAX_BURSTS + 50):
        kind = (Kind.GPU_XID, Kind.NVSWITCH_SXID, Kind.HOST_OOM_KILL)[number % 3]
        coalescer.take(of_kind(seen(number, number / 1000, xid=number), kind))
    state = {key: burst for key, burst in coalescer.changes().items() if burst is not None}
    assert len(state) == MAX_BURSTS


@pytest.mark.parametrize("records", [800, 80_000])
def test_a_storm_is_a_handful_of_deltas_whatever_its_length(records: int) -> None:
    coalescer = Coalescer(make_event)
    told = [event for number in range(records) for event in coalescer.take(seen(number, 80 * number / records))]
    told += coalescer.flush()
    assert len(told) == 5
    assert sum(event.count for event in told) == records


def test_a_storm_that_pauses_is_news_again() -> None:
    coalescer = Coalescer(make_event)
    for number in range(20):
        coalescer.take(seen(number, number / 10))
    assert [event.count for event in coalescer.elapse(15 * SECOND)] == [19]
    assert coalescer.take(seen(21, 25)) == []  # the storm's second window
    assert [event.count for event in coalescer.elapse(30 * SECOND)] == [1]
    assert [event.count for event in coalescer.take(seen(22, 31))] == [1]


def test_what_was_said_last_is_told_last() -> None:
    coalescer = Coalescer(make_event)
    words = [Kind.NETWORK_LINK_DOWN, Kind.NETWORK_LINK_UP, Kind.NETWORK_LINK_UP, Kind.NETWORK_LINK_DOWN]
    for number, kind in enumerate(words):
        coalescer.take(of_kind(seen(number, number), kind))
    assert [event.kind for event in coalescer.elapse(60 * SECOND)] == [Kind.NETWORK_LINK_UP, Kind.NETWORK_LINK_DOWN]


def test_gaps_of_one_burst_add_up_what_is_missing() -> None:
    coalescer = Coalescer(make_event)
    gap = Sighting(Kind.PIPELINE_GAP, Severity.WARNING, None, {"lost": 7, "by": "x"})
    for number in range(3):
        coalescer.take(Seen(gap, str(number), number, START, ""))
    (delta,) = coalescer.flush()
    assert (delta.count, delta.attributes["lost"]) == (2, 14)


@dataclass(frozen=True)
class Line:
    step: int  # microseconds since the line before
    xid: int
    card: int


LINES = st.lists(
    st.builds(Line, st.integers(0, WINDOW_MICROSECONDS // 2), st.sampled_from([13, 48, 79]), st.integers(0, 2)),
    max_size=40,
)


def records(lines: list[Line]) -> list[Seen]:
    ticks, found = 0, []
    for number, line in enumerate(lines):
        ticks += line.step
        found.append(seen(number, ticks / SECOND, line.xid, f"0000:0{line.card}:00"))
    return found


def told(items: list[Seen], restarts: set[int], *, lose_memory: bool) -> list[FaultEvent]:
    """The events of all *items* by a coalescer that begins anew from its stored state before the items of *restarts*.

    Events, place and changes are stored as one when there are events; who *loses memory* reads again from that place.
    """
    stored: dict[str, object] = {}
    events: list[FaultEvent] = []
    place = 0
    coalescer = Coalescer(make_event)
    position = 0
    left = set(restarts)
    while position < len(items):
        if position in left:
            left.remove(position)
            if lose_memory:
                position = place
            else:
                store(stored, coalescer)
                place = position
            coalescer = Coalescer(make_event, json.loads(json.dumps(stored)))
            continue
        new = coalescer.take(items[position])
        position += 1
        if new:
            events += new
            store(stored, coalescer)
            place = position
    return events + coalescer.flush()


def store(stored: dict[str, object], coalescer: Coalescer) -> None:
    for key, burst in coalescer.changes().items():
        if burst is None:
            stored.pop(key, None)
        else:
            stored[key] = burst


@given(LINES, st.sets(st.integers(0, 40)))
def test_a_stop_at_any_record_regroups_nothing(lines: list[Line], restarts: set[int]) -> None:
    items = records(lines)
    assert told(items, restarts, lose_memory=False) == told(items, set(), lose_memory=False)


@given(LINES, st.sets(st.integers(0, 40)))
def test_a_kill_at_any_record_regroups_nothing(lines: list[Line], restarts: set[int]) -> None:
    items = records(lines)
    assert told(items, restarts, lose_memory=True) == told(items, set(), lose_memory=True)


@given(LINES)
def test_every_record_counts_once(lines: list[Line]) -> None:
    items = records(lines)
    events = told(items, set(), lose_memory=False)
    assert sum(event.count for event in events) == len(items)
    assert len({event.id for event in events}) == len(events)
