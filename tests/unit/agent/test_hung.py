import pytest

from agent.hung import HungWatch
from agent.vitals import Vital, Vitals


class Bench:
    """Vitals on a clock that is turned by hand, and what was told."""

    def __init__(self) -> None:
        self.now = 0.0
        self.vitals = Vitals(lambda: self.now)
        self.told: list[str] = []
        self.refuses = False
        self.watch = HungWatch(self.vitals, self.tell)

    def tell(self, one: Vital) -> None:
        if self.refuses:
            raise OSError(28, "No space left on device")
        self.told.append(one.name)

    def look(self, now: float) -> list[str]:
        self.now = now
        self.watch.step()
        return self.told


def test_a_call_that_does_not_come_back_is_told_once() -> None:
    bench = Bench()
    with bench.vitals.measuring("nvml", 5):
        assert bench.look(4) == []
        assert bench.look(6) == ["nvml"]
        assert bench.look(600) == ["nvml"]
    assert bench.look(601) == ["nvml"]


def test_the_next_call_that_hangs_is_told_again() -> None:
    bench = Bench()
    for began in (0.0, 100.0):
        bench.now = began
        with bench.vitals.measuring("nvml", 5):
            bench.look(began + 6)
    assert bench.told == ["nvml", "nvml"]


def test_a_call_that_came_back_between_two_looks_is_another_call() -> None:
    bench = Bench()
    with bench.vitals.measuring("nvml", 5):
        bench.look(6)
    with bench.vitals.measuring("nvml", 5):
        assert bench.look(12) == ["nvml", "nvml"]


def test_each_source_hangs_for_itself() -> None:
    bench = Bench()
    with bench.vitals.measuring("nvml", 5), bench.vitals.measuring("mounts", 20):
        assert bench.look(6) == ["nvml"]
        assert bench.look(21) == ["nvml", "mounts"]


def test_what_could_not_be_told_is_told_later() -> None:
    bench = Bench()
    bench.refuses = True
    with bench.vitals.measuring("nvml", 5):
        with pytest.raises(OSError, match="No space"):
            bench.look(6)
        bench.refuses = False
        assert bench.look(7) == ["nvml"]
