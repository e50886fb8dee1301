"""When a node looks for commands, and what time it believes."""

from datetime import timedelta

from agent.commands.pacing import Pacing, ServerClock
from tests.tools.commands import START, at


class Ticks:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_calm_node_looks_seldom_and_one_with_a_fault_often_for_ten_minutes() -> None:
    ticks = Ticks()
    pacing = Pacing(30.0, ticks)
    assert pacing.wait == 30.0
    pacing.stir()
    assert pacing.wait == 2.0
    ticks.now += 599
    assert pacing.wait == 2.0
    ticks.now += 1
    assert pacing.wait == 30.0


def test_a_table_that_is_away_is_asked_less_and_less_often_but_at_least_each_minute() -> None:
    pacing = Pacing(30.0, Ticks())
    pacing.stir()
    waits = []
    for _ in range(8):
        pacing.failed()
        waits.append(pacing.wait)
    assert waits == [4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0, 60.0]
    pacing.succeeded()
    assert pacing.wait == 2.0


def test_a_node_whose_looks_are_quicker_than_two_seconds_is_never_slowed_down_by_a_fault() -> None:
    pacing = Pacing(0.3, Ticks())
    pacing.stir()
    assert pacing.wait == 0.3


def test_the_time_is_the_servers_whatever_the_nodes_clock_says() -> None:
    ticks = Ticks()
    clock = ServerClock(lambda: START - timedelta(days=400), ticks)
    assert clock.now() == START - timedelta(days=400)
    clock.tell(at(10))
    ticks.now += 2.5
    assert clock.now() == at(12.5)
    clock.tell(None)
    assert clock.now() == at(12.5)
