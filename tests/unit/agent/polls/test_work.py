from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.parsers.sighting import NODE, Sighting
from agent.polls import work as polls_work
from agent.polls.reading import Happened, Holds, NotMeasured, increase
from agent.polls.work import BURST_SECONDS
from policies.contract.events import Component
from policies.contract.vocabulary import ComponentType, Kind, Severity
from tests.tools.polling import Bench, bench, instant

FULL = Sighting(Kind.STORAGE_FULL, Severity.ERROR, NODE, {"device": "/scratch"})
GPU = Component(type=ComponentType.GPU, pci="0000:53:00")


@pytest.fixture
def work() -> Iterator[Bench]:
    with bench() as one:
        yield one


def holds(sighting: Sighting = FULL, **more: object) -> Holds:
    return Holds(sighting, "it holds", **more)  # type: ignore[arg-type]


def test_a_condition_is_told_at_its_onset_and_then_no_more_until_it_is_time(work: Bench) -> None:
    told = [work.take([holds(again=60)], second) for second in range(0, 125, 5)]
    assert [len(events) for events in told if events] == [1, 1, 1]
    first, second, _third = [events[0] for events in told if events]
    assert first["kind"] == "storage.full"
    assert "ongoing" not in first["attributes"]
    assert second["attributes"]["ongoing"] is True
    assert second["attributes"]["occurrence"] == first["id"]
    assert second["id"] != first["id"]


def test_a_condition_with_companions_keeps_their_occurrence_when_it_is_told_again(work: Bench) -> None:
    lost = Sighting(Kind.GPU_LOST, Severity.CRITICAL, GPU, {"occurrence": "bus:0000:53:00"})
    told = [event for second in range(0, 200, 50) for event in work.take([holds(lost, again=100)], second)]
    told += [event for second in range(200, 300, 50) for event in work.take([], second)]
    assert [event["kind"] for event in told] == ["gpu.lost", "gpu.lost", "condition.cleared"]
    assert {event["attributes"]["occurrence"] for event in told} == {"bus:0000:53:00"}


def test_a_condition_that_gets_worse_is_told_at_once(work: Bench) -> None:
    worse = Sighting(Kind.STORAGE_FULL, Severity.CRITICAL, NODE, {"device": "/scratch"})
    assert len(work.take([holds()], 0)) == 1
    assert [event["severity"] for event in work.take([holds(worse)], 5)] == ["critical"]
    assert work.take([holds(worse)], 10) == []
    assert work.take([holds()], 15) == []


def test_a_condition_that_must_last_is_told_only_when_it_did_and_dated_from_its_beginning(work: Bench) -> None:
    assert work.take([holds(after=20)], 0) == []
    assert work.take([holds(after=20)], 10) == []
    (event,) = work.take([holds(after=20)], 20)
    assert event["observed_at"] > event["first_observed_at"]


def test_a_break_starts_a_condition_that_must_last_anew(work: Bench) -> None:
    work.take([holds(after=20)], 0)
    assert work.take([], 10) == []
    assert work.take([holds(after=20)], 20) == []


def test_what_is_over_is_told_once_after_enough_good_polls(work: Bench) -> None:
    (onset,) = work.take([holds()], 0)
    assert work.take([], 10) == []
    assert work.take([], 39) == []
    (cleared,) = work.take([], 40)
    assert cleared["kind"] == "condition.cleared"
    assert cleared["severity"] == "info"
    assert cleared["attributes"] == {
        "device": "/scratch",
        "of": "storage.full",
        "lasted_seconds": 10.0,
        "occurrence": onset["id"],
    }
    assert work.take([], 80) == []


def test_a_short_good_spell_neither_clears_nor_tells_anew(work: Bench) -> None:
    work.take([holds()], 0)
    assert [work.take([holds()] if second % 10 else [], second) for second in range(1, 60)] == [[]] * 59


def test_a_condition_may_name_its_own_recovery(work: Bench) -> None:
    down = Sighting(Kind.NETWORK_LINK_DOWN, Severity.ERROR, NODE, {"device": "mlx5_0"})
    work.take([holds(down, cleared_after=0, recovery=Kind.NETWORK_LINK_UP)], 0)
    assert [event["kind"] for event in work.take([], 5)] == ["network.link_up"]


def test_what_could_not_be_read_neither_holds_nor_clears(work: Bench) -> None:
    hot = Sighting(Kind.GPU_OVERHEATED, Severity.ERROR, GPU)
    work.take([holds(hot), holds()], 0)
    unread = NotMeasured(frozenset({Kind.GPU_OVERHEATED}), GPU)
    told = [event["attributes"]["of"] for second in (10, 60, 120) for event in work.take([unread], second)]
    assert told == ["storage.full"]
    assert [event["attributes"]["of"] for second in (130, 170) for event in work.take([], second)] == ["gpu.overheated"]


def test_another_components_unread_value_covers_only_that_one(work: Bench) -> None:
    other = Component(type=ComponentType.GPU, pci="0000:54:00")
    unread = NotMeasured(frozenset({Kind.GPU_OVERHEATED}), other)
    work.take([holds(Sighting(Kind.GPU_OVERHEATED, Severity.ERROR, GPU), cleared_after=0)], 0)
    assert len(work.take([unread], 5)) == 1


def test_what_nobody_looked_at_for_long_did_not_last_meanwhile(work: Bench) -> None:
    """A restart of the agent, a sleeping node, a value that could not be read: two moments make no duration."""
    work.take([holds(after=20)], 0)
    work.take([holds(after=20)], 16)  # stored, and not told yet
    work.restart()
    assert work.take([holds(after=20)], 3600) == []
    assert len(work.take([holds(after=20)], 3620)) == 1


def test_a_short_restart_costs_a_condition_that_must_last_no_time(work: Bench) -> None:
    work.take([holds(after=20)], 0)
    work.take([holds(after=20)], 16)
    work.restart()
    assert len(work.take([holds(after=20)], 22)) == 1


def test_an_agent_that_is_killed_again_and_again_tells_what_lasts_and_its_end_once(work: Bench) -> None:
    told = []
    for second in range(0, 60, 5):
        work.restart()
        told += work.take([holds(after=20)], second)
    for second in range(60, 120, 5):
        work.restart()
        told += work.take([], second)
    assert [event["kind"] for event in told] == ["storage.full", "condition.cleared"]


def test_what_flutters_is_not_written_at_each_look(work: Bench) -> None:
    written = []
    for second in range(40):
        work.take([holds(after=20)] if second % 2 else [], 0.5 * second)
        written.append(work.spool.progress("test"))
    assert sum(one != other for one, other in pairwise(written)) <= 11


def test_a_condition_that_was_told_goes_on_however_long_nobody_looked(work: Bench) -> None:
    (onset,) = work.take([holds(again=7200)], 0)
    work.restart()
    assert work.take([holds(again=7200)], 3600) == []
    (again,) = work.take([holds(again=7200)], 7200)
    assert again["attributes"]["occurrence"] == onset["id"]


def many(count: int, kind: Kind = Kind.STORAGE_FULL, severity: Severity = Severity.WARNING) -> list[Holds]:
    return [holds(Sighting(kind, severity, GPU, {"device": f"disk{number}"})) for number in range(count)]


def test_what_finds_no_place_among_very_many_is_told_as_one_of_its_kind(
    work: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polls_work, "MAX_CONDITIONS", 5)
    worst = holds(Sighting(Kind.GPU_LOST, Severity.CRITICAL, GPU))
    told = work.take([*many(8), worst], 0)
    assert len(told) == 5 + 2
    assert [(event["kind"], event["severity"]) for event in told if event["attributes"].get("folded")] == [
        ("storage.full", "warning"),
        ("gpu.lost", "critical"),
    ]
    assert work.take([*many(8), worst], 5) == []
    unread = NotMeasured(frozenset({Kind.GPU_LOST}), GPU)
    assert work.take([*many(8), unread], 60) == []


def test_a_name_that_is_no_text_is_told_once_and_known_after_a_restart(work: Bench) -> None:
    odd = Sighting(Kind.STORAGE_FULL, Severity.ERROR, NODE, {"device": "disk\udcff", "mount": "/data/\udcfe\n"})
    (told,) = work.take([holds(odd)], 0)
    assert told["attributes"]["mount"] == "/data/?\n"
    work.restart()
    assert work.take([holds(odd)], 5) == []


def test_what_is_normal_while_a_node_boots_waits_for_the_end_of_the_grace(work: Bench) -> None:
    assert work.take([holds(in_boot=False)], 0, uptime=100) == []
    assert work.take([holds(in_boot=False)], 199, uptime=100) == []
    assert len(work.take([holds(in_boot=False)], 200, uptime=100)) == 1


def test_after_a_crash_nothing_is_told_twice_and_what_holds_is_known(work: Bench) -> None:
    (onset,) = work.take([holds()], 0)
    work.restart()
    assert work.take([holds()], 5) == []
    work.restart()
    work.take([], 10)
    (cleared,) = work.take([], 45)
    assert cleared["attributes"]["occurrence"] == onset["id"]


def test_another_boot_begins_anew(work: Bench) -> None:
    """The spool outlives the boot; seconds since boot, and what a poll saw, do not."""
    (onset,) = work.take([holds()], 0)
    work.work.memory["seen"] = ["mlx5_0"]
    work.take([holds()], 20)
    work.boot()
    assert work.work.memory == {}
    (again,) = work.take([holds()], 60, uptime=30)
    assert again["id"] != onset["id"]
    assert "ongoing" not in again["attributes"]


def test_counts_are_told_at_once_and_then_together(work: Bench) -> None:
    corrected = Happened(Sighting(Kind.HOST_MEMORY_CORRECTED, Severity.WARNING, NODE), "corrected", 2)
    assert [event["count"] for event in work.take([corrected], 0)] == [2]
    assert work.take([corrected], 3) == []
    assert work.take([corrected], 6) == []
    (rest,) = work.take([], BURST_SECONDS)
    assert rest["count"] == 4
    assert rest["first_observed_at"] < rest["observed_at"]
    assert work.take([], 2 * BURST_SECONDS) == []


def test_a_stop_tells_what_was_counted(work: Bench) -> None:
    corrected = Happened(Sighting(Kind.HOST_MEMORY_CORRECTED, Severity.WARNING, NODE), "corrected")
    work.take([corrected, corrected], 0)
    work.work.finish(instant(1))
    assert [event["count"] for event in work.new()] == [1]


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0.5, 20)), max_size=40), st.integers(0, 40))
def test_every_count_is_told_exactly_once_whatever_the_pace_and_wherever_it_crashed(
    polls: list[tuple[int, float]], crash: int
) -> None:
    with bench() as work:
        total, second, value = 0, 0.0, 0
        work.work.memory["counters"] = {"ce": 0}
        for at, (more, pause) in enumerate(polls):
            if at == crash:
                work.work.finish(instant(second))
                total += sum(event["count"] for event in work.new())
                work.restart()
                work.work.memory.setdefault("counters", {}).setdefault("ce", 0)
            second, value = second + pause, value + more
            count = increase(work.work.memory, "ce", value)
            happened = Happened(Sighting(Kind.HOST_MEMORY_CORRECTED, Severity.WARNING, NODE), "corrected", count)
            total += sum(event["count"] for event in work.take([happened], second))
        work.work.finish(instant(second))
        total += sum(event["count"] for event in work.new())
        assert total == value


def test_a_counter_that_fell_was_reset_and_counts_from_nothing() -> None:
    memory: dict[str, object] = {}
    assert [increase(memory, "ce", value) for value in (5, 5, 8, 2, 2)] == [0, 0, 3, 2, 0]
