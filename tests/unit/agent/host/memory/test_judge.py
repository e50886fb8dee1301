from collections.abc import Callable

from agent.host.memory.frame import Frame, Group, Process
from agent.host.memory.judge import LeakJudge
from agent.host.memory.poll import LeakPoll
from agent.polls.reading import Holds
from tests.tools.polling import LATE, bench

GIB = 1 << 30
MINUTE, HOUR, EVERY = 60.0, 3600.0, 30
TOTAL = 1000 * GIB
Amount = Callable[[float], float]
"""Seconds since the start -> GiB."""


def process(pid: int, own: Amount, at: float, *, started: float = 0.0, group: str = "") -> Process:
    return Process(pid, "python", started, int(own(at) * GIB), group)


def frame(*processes: Process, other: float = 20.0, groups: dict[str, Group] | None = None) -> Frame:
    used = sum(one.own for one in processes) + int(other * GIB)
    return Frame(TOTAL, max(0, TOTAL - used), processes, groups or {})


def watched(frames: Callable[[float], Frame], hours: float = 1.0) -> list[tuple[float, Holds]]:
    """Return what was said, and after how many seconds."""
    judge, found = LeakJudge(), list[tuple[float, Holds]]()
    for second in range(0, int(hours * HOUR) + 1, EVERY):
        found += [(second, one) for one in judge.take(frames(second), LATE + second)]
    return found


def test_a_process_that_leaks_is_named_in_time_with_how_long_it_has() -> None:
    at, first = watched(lambda t: frame(process(7, lambda s: 100 + s / 3, t)))[0]
    assert 600 <= at <= 1000
    sighting = first.sighting
    assert (sighting.kind, sighting.component.type if sighting.component else "") == ("host.memory_leak", "process")
    assert sighting.attributes["pid"] == 7
    assert sighting.attributes["process"] == "python"
    left = (1000 - 20 - 100 - at / 3) * 3
    assert left > 25 * MINUTE
    assert abs(float(sighting.attributes["minutes_left"]) - left / MINUTE) <= 2
    assert 1100 <= float(sighting.attributes["growth_mib_per_hour"]) / 1024 <= 1300


def test_a_leak_that_will_take_days_is_not_told() -> None:
    assert watched(lambda t: frame(process(7, lambda s: 100 + s / HOUR, t)), hours=2) == []


def test_a_slow_leak_is_told_an_hour_ahead_and_a_fast_one_only_as_far_as_twice_what_was_seen() -> None:
    for rate in (0.1, 0.25, 0.6):
        at, _ = watched(lambda t, rate=rate: frame(process(7, lambda s: 100 + rate * s, t)), hours=3)[0]  # type: ignore[misc]
        left = (880 - rate * at) / rate
        assert 0.7 * min(HOUR, 2 * at) <= left <= min(HOUR, 2 * at)


def test_the_nearer_the_end_the_worse_it_is() -> None:
    said = watched(lambda t: frame(process(7, lambda s: 100 + s / 3, t)), hours=0.7)
    severities = [one.sighting.severity.value for _, one in said]
    assert severities == sorted(severities, reverse=True)
    assert {"warning", "error"} == set(severities)


def test_a_cache_that_fills_is_no_growth() -> None:
    """It is available, and nobody's own: the frame does not hold it, whatever is read."""
    assert watched(lambda t: frame(process(7, lambda _s: 100, t))) == []


def test_a_process_that_has_just_begun_is_given_time_to_load() -> None:
    def loading(t: float) -> Frame:
        return frame(process(7, lambda s: 20 + 700 * min(1.0, s / 900), t, started=LATE))

    assert watched(loading) == []


def test_many_small_growths_are_told_of_the_node() -> None:
    def workers(t: float) -> Frame:
        return frame(*(process(pid, lambda _s: 2.0, t) for pid in range(1, 17)), other=100 + t / 4)

    at, first = watched(workers)[0]
    assert at >= 600
    assert (first.sighting.attributes["resource"], "pid" in first.sighting.attributes) == ("node", False)


def test_a_process_that_explains_the_growth_of_the_node_is_told_alone() -> None:
    said = watched(lambda t: frame(process(7, lambda s: 100 + s / 3, t)))
    assert {one.sighting.attributes.get("pid") for _, one in said} == {7}


def test_ranks_that_leak_alike_are_named_each_and_end_together() -> None:
    def ranks(t: float) -> Frame:
        return frame(*(process(pid, lambda s: 80 + s / 25, t) for pid in range(1, 9)))

    said = watched(ranks, hours=0.4)
    assert {one.sighting.attributes.get("pid") for _, one in said} == set(range(1, 9))
    at, first = said[0]
    left = (1000 - 20 - 8 * (80 + at / 25)) / (8 / 25)
    assert abs(float(first.sighting.attributes["minutes_left"]) - left / MINUTE) <= 2


def test_who_grows_a_little_beside_a_leak_is_not_accused() -> None:
    said = watched(lambda t: frame(process(7, lambda s: 100 + s / 3, t), process(8, lambda s: 50 + s / 100, t)))
    assert {one.sighting.attributes.get("pid") for _, one in said} == {7}


def test_a_container_ends_at_its_own_limit() -> None:
    def limited(t: float) -> Frame:
        own = process(7, lambda s: 10 + s / 60, t, group="/kubepods/pod1")
        return frame(own, groups={"/kubepods/pod1": Group(64 * GIB, own.own + GIB)})

    at, first = watched(limited)[0]
    assert at <= 1300
    assert first.sighting.attributes["cgroup"] == "/kubepods/pod1"
    assert float(first.sighting.attributes["minutes_left"]) <= 60


def test_a_process_that_ends_is_forgotten_and_its_number_begins_anew() -> None:
    judge = LeakJudge()
    for second in range(0, 1200, EVERY):
        judge.take(frame(process(7, lambda s: 100 + s / 3, second)), LATE + second)
    assert judge.take(frame(process(7, lambda _s: 500, 1200, started=LATE + 1190)), LATE + 1200) == []


def test_what_is_held_is_bounded() -> None:
    judge = LeakJudge()
    for second in range(0, 4 * 3600, EVERY):
        judge.take(frame(process(second, lambda _s: 5, second)), LATE + second)
    assert len(judge._series) == 2
    assert all(len(series) <= 240 for series in judge._series.values())


def test_a_leak_that_stops_is_over() -> None:
    now = [0.0]
    poll = LeakPoll(lambda: frame(process(7, lambda s: 100 + min(s, 1200) / 3, now[0])))
    told = []
    with bench() as work:
        for second in range(0, 3600, EVERY):
            now[0] = second
            told += work.poll(poll, second)
    kinds = [event["kind"] for event in told]
    assert kinds[0] == "host.memory_leak"
    assert kinds[-1] == "condition.cleared"
    assert kinds.count("condition.cleared") == 1
