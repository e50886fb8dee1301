"""One source that is ill never stops another, whatever its illness is."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from agent import supervise
from agent.running import RunningSources
from agent.vitals import Vitals
from tests.tools.sources import eventually


class Ill:
    """Sources that do what they should not, each in its own way."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.kept: list[bytes] = []

    def raises(self, stop: threading.Event) -> None:
        msg = "rubbish"
        raise ValueError(msg)

    def leaves(self, stop: threading.Event) -> None:
        raise SystemExit

    def returns_at_once(self, stop: threading.Event) -> None:
        return

    def hangs(self, stop: threading.Event) -> None:
        self.go_on.wait()

    def eats(self, stop: threading.Event) -> None:
        self.kept.append(b"x" * (1 << 20))
        raise MemoryError


class Well:
    """Counts its rounds; says under which settings."""

    def __init__(self, name: str = "") -> None:
        self.rounds = 0
        self.name = name

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(0.005):
            self.rounds += 1


@pytest.fixture
def ill(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ill]:
    monkeypatch.setattr(supervise, "_FIRST_SECONDS", 0.01)
    ill = Ill()
    yield ill
    ill.go_on.set()


@pytest.fixture
def running() -> Iterator[RunningSources]:
    sources = RunningSources(Vitals(time.monotonic))
    yield sources
    sources.stop(1)


def stepping(running: RunningSources, condition: Callable[[], bool]) -> Callable[[], bool]:
    def step() -> bool:
        running.step()
        return condition()

    return step


def goes_on(well: Well) -> Callable[[], bool]:
    before = well.rounds
    return lambda: well.rounds > before + 3


@pytest.mark.parametrize("illness", ["raises", "leaves", "returns_at_once", "hangs", "eats"])
def test_an_ill_source_stops_no_other(ill: Ill, running: RunningSources, illness: str) -> None:
    well = Well()
    running.start("x", {"ill": getattr(ill, illness), "well": well.run})
    eventually(goes_on(well))
    eventually(goes_on(well))
    if illness == "hangs":  # whoever waits for it in vain waits for no other
        assert running.restart("x", {"well": well.run}, seconds=0.2)[:1] == ["ill"]
    else:
        assert running.restart("x", {"well": well.run}, seconds=60) == []


def test_one_that_leaves_its_thread_is_begun_again(ill: Ill, running: RunningSources) -> None:
    tries: list[int] = []

    def leaves(stop: threading.Event) -> None:
        tries.append(1)
        raise SystemExit

    running.start("x", {"ill": leaves})
    eventually(lambda: len(tries) > 2)


def test_a_group_is_begun_anew_and_the_others_go_on(running: RunningSources) -> None:
    old, new, other = Well(), Well(), Well()
    running.start("logs", {"a": old.run, "gone": Well().run})
    running.start("gpu", {"b": other.run})
    assert running.restart("logs", {"a": new.run, "added": Well().run}, seconds=60) == []
    stood = old.rounds
    eventually(goes_on(new))
    eventually(goes_on(other))
    assert old.rounds == stood
    assert running.names == ["a", "added", "b"]


def test_a_source_that_does_not_end_is_never_begun_beside_itself(ill: Ill, running: RunningSources) -> None:
    second = Well()
    running.start("x", {"ill": ill.hangs})
    assert running.restart("x", {"ill": second.run}, seconds=0.1) == ["ill"]
    assert running.names == ["ill"]
    assert second.rounds == 0
    running.step()
    assert running.names == ["ill"]
    ill.go_on.set()
    eventually(stepping(running, lambda: second.rounds > 0))
    assert running.names == ["ill"]


def test_the_newest_settings_count_for_a_source_that_ends_late(ill: Ill, running: RunningSources) -> None:
    second, third = Well(), Well()
    running.start("x", {"ill": ill.hangs})
    for well in (second, third):
        running.restart("x", {"ill": well.run}, seconds=0.05)
    ill.go_on.set()
    eventually(stepping(running, lambda: third.rounds > 0))
    assert second.rounds == 0


def test_a_source_that_ends_late_and_is_wanted_no_more_is_forgotten(ill: Ill, running: RunningSources) -> None:
    running.start("x", {"ill": ill.hangs})
    running.restart("x", {"ill": Well().run}, seconds=0.05)
    running.restart("x", {}, seconds=0.05)
    ill.go_on.set()
    eventually(stepping(running, lambda: running.names == []))


def test_a_stop_ends_all(running: RunningSources) -> None:
    running.start("x", {str(number): Well().run for number in range(5)})
    assert running.stop(60) == []
    assert running.names == []
