"""Whether a series of memory figures grows as a leak does, and how fast.

Robust rather than clever: the slope is the median of all slopes between two samples (Theil and Sen), so that no single
sample moves it, and it is believed only if the growth is steady. What is no leak looks like one for a while, and is
told apart by its shape:

- a step (a dataset or a checkpoint is loaded once): a third of the window does not grow;
- a warm-up: it slows down, the last third grows by much less than the first;
- noise: as many steps down as up;
- a sawtooth, a wave, a save every ten minutes: memory was given back before. From then on only the low points count,
  each the least of ten minutes, over an hour and more.

Pure: samples in, verdict out. It must not know whose memory it is, nor what is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

Sample = tuple[float, float]  # seconds, bytes
WINDOWS_SECONDS = (1800.0, 900.0)  # the longest that is steady counts: it sees further
LEAST_SECONDS, LEAST_SAMPLES = 600.0, 12
LOW_POINT_SECONDS, LEAST_LOW_POINTS = 600.0, 6
_EACH_THIRD = 0.4  # of the slope of the whole: a third that grows by less does not grow
_LAST_THIRD = 0.6  # of the first one's slope: less is a growth that slows down
_RISING = 0.7  # share of the steps that go up
_GIVEN_BACK = 0.1  # of the whole range


@dataclass(frozen=True, slots=True)
class Growth:
    """Bytes a second, for how many seconds it was seen, and by how many bytes it grew in them."""

    rate: float
    evidence: float
    grown: float


def growth(samples: Sequence[Sample]) -> Growth | None:
    """Return the growth that *samples* (in the order of time) show at their end, or None for none to believe in."""
    if len(samples) < LEAST_SAMPLES:
        return None
    if gave_back(samples):
        low = low_points(samples)
        return _steady(low) if len(low) >= LEAST_LOW_POINTS else None
    found = (_steady([one for one in samples if one[0] >= samples[-1][0] - window]) for window in WINDOWS_SECONDS)
    return next((growth for growth in found if growth), None)


def _steady(window: Sequence[Sample]) -> Growth | None:
    evidence = window[-1][0] - window[0][0]
    steps = [after[1] - before[1] for before, after in pairwise(window)]
    if (
        evidence < LEAST_SECONDS
        or len(window) < LEAST_LOW_POINTS
        or sum(step > 0 for step in steps) < _RISING * len(steps)
    ):
        return None
    third = len(window) // 3
    first, middle, last = (slope(part) for part in (window[: third + 1], window[third:-third], window[-third - 1 :]))
    whole = slope(window)
    if whole <= 0 or min(first, middle, last) < _EACH_THIRD * whole or last < _LAST_THIRD * first:
        return None
    rate = min(whole, last)
    return Growth(rate, evidence, rate * evidence)


def slope(samples: Sequence[Sample]) -> float:
    """Return the median of the slopes between any two of *samples*; 0 for less than two."""
    slopes = [
        (after[1] - before[1]) / (after[0] - before[0])
        for number, before in enumerate(samples)
        for after in samples[number + 1 :]
        if after[0] > before[0]
    ]
    return median(slopes) if slopes else 0.0


def gave_back(samples: Sequence[Sample]) -> bool:
    """Tell whether a good part of the whole range was ever given back, at once or little by little."""
    values = [value for _, value in samples]
    most, fall = values[0], 0.0
    for value in values:
        most = max(most, value)
        fall = max(fall, most - value)
    return fall > _GIVEN_BACK * (max(values) - min(values))


def low_points(samples: Sequence[Sample]) -> list[Sample]:
    """Return the least sample of each ten minutes, counted back from the end; what is left at the beginning is none."""
    end, found = samples[-1][0], list[Sample]()
    for number in range(int((end - samples[0][0]) // LOW_POINT_SECONDS)):
        upper = end - number * LOW_POINT_SECONDS
        within = [sample for sample in samples if upper - LOW_POINT_SECONDS < sample[0] <= upper]
        if within:
            found.append(min(within, key=lambda sample: sample[1]))
    return found[::-1]
