import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.host.memory.trend import Sample, growth, slope

GIB = float(1 << 30)
EVERY = 30.0
HOUR = 3600.0


def series(shape: Callable[[float], float], hours: float = 1.0, noise: float = 0.0, seed: int = 1) -> list[Sample]:
    """Sample *shape* (seconds -> GiB) with noise of so many GiB."""
    rng = random.Random(seed)
    steps = int(hours * HOUR / EVERY) + 1
    return [(n * EVERY, (shape(n * EVERY) + rng.gauss(0, noise)) * GIB) for n in range(steps)]


def ever(samples: list[Sample]) -> bool:
    """Tell whether somebody who looked after each sample would have seen growth at any time."""
    return any(growth(samples[:end]) for end in range(1, len(samples) + 1))


def epochs(seconds: float) -> float:
    return 20 + 30 * (seconds % 1200) / 1200


# The shapes of jobs, in GiB: what a process's own memory does while it trains as it should.
WELL: dict[str, Callable[[float], float]] = {
    "flat": lambda _t: 40.0,
    "a dataset loaded at once": lambda t: 40.0 if t < 1500 else 400.0,
    "a checkpoint loaded in four minutes": lambda t: 40 + 300 * min(1.0, max(0.0, (t - 900) / 240)),
    "a warm-up that slows down": lambda t: 40 + 200 * (1 - math.exp(-t / 500)),
    "a save every ten minutes": lambda t: 40 + (60 if t % 600 < 90 else 0),
    "a slow wave": lambda t: 40 + 10 * math.sin(t / 300),
    "shrinking": lambda t: 400 - t / 100,
}


@pytest.mark.parametrize("name", WELL)
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_what_a_healthy_job_does_is_no_leak(name: str, noise: float) -> None:
    assert not ever(series(WELL[name], noise=noise))


def test_a_sawtooth_is_no_leak_once_a_tooth_was_seen() -> None:
    samples = series(epochs, hours=2)
    assert not any(growth(samples[:end]) for end in range(42, len(samples)))


@pytest.mark.parametrize("rate", [2.0, 20.0, 400.0])
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_a_leak_is_seen_after_ten_minutes_and_measured_well(rate: float, noise: float) -> None:
    samples = series(lambda t: 40 + rate * t / HOUR, noise=noise if rate > 2 else 0.0)
    assert growth(samples[:20]) is None
    found = growth(samples[:22])
    assert found is not None
    assert found.evidence >= 600
    assert found.rate == pytest.approx(rate * GIB / HOUR, rel=0.15)


def test_a_leak_that_begins_after_an_hour_is_seen_as_soon() -> None:
    samples = series(lambda t: 40 + max(0.0, t - HOUR) / 60, hours=1.5)
    seen = next(end for end in range(len(samples)) if growth(samples[:end]))
    assert HOUR + 540 <= samples[seen][0] <= HOUR + 1000


def test_a_leak_under_a_sawtooth_is_measured_by_its_low_points() -> None:
    found = growth(series(lambda t: 20 + 30 * (t % 500) / 500 + 12 * t / HOUR, hours=1.9))
    assert found is not None
    assert found.rate == pytest.approx(12 * GIB / HOUR, rel=0.3)  # a tooth by itself rises by 216 an hour


def test_one_wild_sample_moves_nothing() -> None:
    samples = series(lambda t: 40 + t / 100, hours=0.4)
    wild = [*samples[:-5], (samples[-5][0], 0.0), *samples[-4:]]
    assert slope(wild) == pytest.approx(slope(samples), rel=0.05)


finite = st.floats(0, 1e13)


@given(st.lists(finite, max_size=60), st.floats(1e-3, 1e3), st.floats(0, 1e12))
def test_neither_unit_nor_level_decides(values: list[float], unit: float, level: float) -> None:
    whole = [round(value) for value in values]
    samples = [(n * EVERY, float(value)) for n, value in enumerate(whole)]
    first, second = growth(samples), growth([(at, value * 4 + round(level)) for at, value in samples])
    assert (first is None) == (second is None)
    if first and second:
        assert second.rate == pytest.approx(4 * first.rate, rel=1e-3)


@given(st.lists(finite, max_size=60))
def test_growth_is_never_backwards_nor_from_too_little(values: list[float]) -> None:
    samples = [(n * EVERY, value) for n, value in enumerate(values)]
    found = growth(samples)
    if found:
        assert found.rate > 0
        assert found.evidence >= 600
        assert len(samples) >= 12


@given(st.lists(finite, min_size=30, max_size=40))
def test_what_falls_at_its_end_is_no_growth(values: list[float]) -> None:
    samples = [(n * EVERY, value) for n, value in enumerate(sorted(values, reverse=True))]
    assert growth(samples) is None
