"""How a figure is taken and written down: several runs, the median, and the spread beside it."""

import statistics
from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

Better = Literal["higher", "lower"]


class Figure(TypedDict):
    """One measured figure, the JSON line of `make bench`."""

    name: str
    unit: str
    median: float
    min: float
    max: float
    runs: int
    better: Better


def figure(name: str, unit: str, samples: Sequence[float], *, better: Better) -> Figure:
    """Sum *samples* (one a run) up; at least one."""
    return Figure(
        name=name,
        unit=unit,
        median=_short(statistics.median(samples)),
        min=_short(min(samples)),
        max=_short(max(samples)),
        runs=len(samples),
        better=better,
    )


def quantiles(name: str, unit: str, samples: Sequence[float], *, better: Better) -> list[Figure]:
    """Give the median and the 99th percentile of *samples* (one an observation) as two figures."""
    ordered = sorted(samples)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    spread = {"min": _short(ordered[0]), "max": _short(ordered[-1]), "runs": len(ordered)}
    middle = _short(statistics.median(ordered))
    return [
        Figure(name=f"{name}, {label}", unit=unit, median=value, better=better, **spread)  # type: ignore[typeddict-item]
        for label, value in (("median", middle), ("p99", _short(p99)))
    ]


def repeat(run: Callable[[], float], runs: int = 5) -> list[float]:
    """Call *run* once to warm up and then *runs* times; its answers."""
    run()
    return [run() for _ in range(runs)]


def _short(value: float) -> float:
    return float(f"{value:.4g}")
