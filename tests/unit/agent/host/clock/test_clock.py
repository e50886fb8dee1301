from datetime import timedelta
from pathlib import Path

import pytest

from agent.host.clock.kernel import Discipline, Tracking, parse_tracking, read_discipline, read_tracking
from agent.host.clock.poll import ClockPoll, judge
from agent.polls.reading import Holds, Instant, Memory, NotMeasured
from policies.contract.vocabulary import Kind
from tests.tools.agent_events import START
from tests.tools.polling import bench, instant, measure

WELL, UNSET = Discipline(0.004, 0.0002), Discipline(16.0, 16.0)
LINE = (
    "A9FEA97B,169.254.169.123,4,1767225600.123456789,{offset},-0.000002345,0.000003456,-12.345,-0.001,0.012,"
    "0.000234567,0.000123456,16.2,{leap}\n"
)


def reasons(discipline: Discipline | None, tracking: Tracking | None) -> list[object]:
    return [one.sighting.attributes["reason"] for one in judge(discipline, tracking) if isinstance(one, Holds)]


def test_a_clock_that_somebody_keeps_is_well() -> None:
    assert reasons(WELL, None) == []
    assert reasons(WELL, Tracking(-0.00002, synchronised=True)) == []


def test_a_clock_that_nobody_keeps_is_told_by_the_kernel_or_by_chrony() -> None:
    assert reasons(UNSET, None) == ["unsynchronised"]
    assert reasons(WELL, Tracking(0.0, synchronised=False)) == ["unsynchronised"]
    assert reasons(None, Tracking(0.0, synchronised=False)) == ["unsynchronised"]


def test_an_error_that_grows_is_not_yet_an_unset_clock() -> None:
    assert reasons(Discipline(15.9, 0.1), None) == []


@pytest.mark.parametrize("offset", [0.25, -0.25])
def test_a_clock_that_is_off_is_told_with_how_far(offset: float) -> None:
    (reading,) = judge(WELL, Tracking(offset, synchronised=True))
    assert isinstance(reading, Holds)
    assert reading.sighting.attributes == {"reason": "offset", "offset_seconds": offset}


def test_chronys_report_is_read() -> None:
    assert parse_tracking(LINE.format(offset="0.150000000", leap="Normal")) == Tracking(0.15, synchronised=True)
    assert parse_tracking(LINE.format(offset="0.0", leap="Not synchronised")) == Tracking(0.0, synchronised=False)
    assert parse_tracking("506 Cannot talk to daemon") is None


def test_it_must_last_and_says_when_it_is_over() -> None:
    discipline = [UNSET]
    poll = ClockPoll(lambda: discipline[0], lambda: None)
    with bench() as work:
        told = [event for second in range(0, 181, 60) for event in work.poll(poll, second)]
        assert [event["kind"] for event in told] == ["host.clock_unsynchronised"]
        assert (told[0]["severity"], told[0]["attributes"]["max_error_seconds"]) == ("warning", 16.0)
        discipline[0] = WELL
        told = [event for second in range(240, 421, 60) for event in work.poll(poll, second)]
        assert [event["kind"] for event in told] == ["condition.cleared"]


def test_a_node_that_boots_is_given_time_to_set_its_clock() -> None:
    poll = ClockPoll(lambda: UNSET, lambda: None)
    with bench() as work:
        assert [event for second in range(0, 241, 60) for event in work.poll(poll, second, uptime=10)] == []
        assert [event["kind"] for event in work.poll(poll, 300, uptime=10)] == ["host.clock_unsynchronised"]


def test_a_clock_that_jumps_is_told_either_way() -> None:
    poll, memory = ClockPoll(lambda: WELL, lambda: None), _looked_at()
    (reading,) = poll.measure(memory, Instant(START + timedelta(seconds=60 - 3600), 10_060.0))
    assert reading.sighting.attributes == {"reason": "jump", "jump_seconds": -3600.0}  # type: ignore[union-attr]
    assert poll.measure(memory, Instant(START + timedelta(seconds=120 - 3600), 10_120.0)) == []


def test_a_clock_that_is_set_while_the_node_boots_or_drifts_while_nobody_looks_does_not_jump() -> None:
    memory: Memory = {}
    poll = ClockPoll(lambda: WELL, lambda: None, boot_grace=300)
    poll.measure(memory, instant(0, uptime=20))
    assert poll.measure(memory, Instant(START + timedelta(days=3), 80.0)) == []
    poll, memory = ClockPoll(lambda: WELL, lambda: None), _looked_at()
    assert poll.measure(memory, Instant(START + timedelta(days=3, seconds=2), 10_000.0 + 3 * 86400)) == []


def _looked_at() -> Memory:
    memory: Memory = {}
    ClockPoll(lambda: WELL, lambda: None).measure(memory, instant(0))
    return memory


def test_a_container_that_may_not_ask_has_not_measured() -> None:
    def forbidden() -> Discipline:
        raise PermissionError(1, "adjtimex")

    assert measure(ClockPoll(forbidden, lambda: None)) == [NotMeasured(frozenset({Kind.HOST_CLOCK_UNSYNCHRONISED}))]
    assert measure(ClockPoll(forbidden, lambda: Tracking(0.0, synchronised=True))) == []


def test_this_machines_kernel_answers() -> None:
    try:
        said = read_discipline()
    except PermissionError:
        pytest.skip("a filter forbids adjtimex here")
    assert 0 <= said.estimated_error <= said.max_error <= 16.0


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (
            f"echo '{LINE.format(offset='0.15', leap='Normal').strip()}'; echo a warning >&2",
            Tracking(0.15, synchronised=True),
        ),
        ("echo '506 Cannot talk to daemon'; exit 1", None),
        ("exec sleep 60", None),
    ],
)
def test_chrony_is_asked_where_it_is_and_never_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, told: Tracking | None
) -> None:
    if told:  # what answers at once is waited for, however long a busy machine takes to begin it
        monkeypatch.setattr("agent.host.clock.kernel._CHRONYC_SECONDS", 60.0)
    program = tmp_path / "chronyc"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert read_tracking() == told


def test_a_node_without_chrony_tells_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_tracking() is None
