"""How fast each rank of a job goes, in windows of a minute or more that all ranks on the node share.

In a window: the time between a rank's steps, and how much of it the rank was on its own. Where ranks go in step all
wait for the slowest, so that their steps take equally long whoever is slow: only what a rank did on its own tells
them apart, and only where training says it (`own` in training/FORMAT.md). Where they do not go in step, the steps
themselves do. Pure. It must not know who is slow, files or a clock.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median_low
from typing import Any

from agent.job.beat import Beat

WINDOW_SECONDS, _LONGEST_WINDOW_SECONDS = 60.0, 1800.0
_STEPS = 5  # fewer say nothing about a rank
Json = dict[str, Any]  # "at": when the window opened, "ranks": file -> [run, step, beat's time, own]


@dataclass(frozen=True, slots=True)
class Pace:
    """One rank in one window, seconds a step; ``own`` is None where it does not tell."""

    file: str
    step: int
    step_seconds: float
    own: float | None


@dataclass(frozen=True, slots=True)
class Window:
    """What the ranks of a job did in so many seconds."""

    seconds: float
    paces: tuple[Pace, ...]


def follow_paces(state: Json, beats: Mapping[str, Beat], ticks: float) -> Window | None:
    """Return the window that closes at *ticks* seconds since boot, if one does; *beats* are a job's by file."""
    opened = state.get("at")
    if opened is None or ticks < opened:
        _open(state, beats, ticks)
        return None
    seconds = ticks - opened
    if seconds < WINDOW_SECONDS:
        return None
    anchors = state["ranks"]
    paces = [pace for file, beat in beats.items() if (pace := _pace(file, anchors.get(file), beat))]
    if _steps(anchors, beats) < _STEPS and seconds < _LONGEST_WINDOW_SECONDS:
        return None
    _open(state, beats, ticks)
    return Window(seconds, tuple(paces))


def _open(state: Json, beats: Mapping[str, Beat], ticks: float) -> None:
    ranks = {file: [_run(one), one.step, one.at, one.own] for file, one in beats.items() if one.step is not None}
    state |= {"at": ticks, "ranks": ranks}


def _steps(anchors: Json, beats: Mapping[str, Beat]) -> int:
    made: Iterable[int] = [
        (beat.step or 0) - anchors[file][1]
        for file, beat in beats.items()
        if file in anchors and anchors[file][0] == _run(beat)
    ]
    return median_low(made) if made else 0


def _pace(file: str, anchor: list[Any] | None, beat: Beat) -> Pace | None:
    if anchor is None or anchor[0] != _run(beat) or beat.step is None:
        return None
    steps, seconds, own = beat.step - anchor[1], (beat.at - anchor[2]) / 1e9, (beat.own - anchor[3]) / 1e9
    if steps <= 0 or seconds <= 0:
        return None
    return Pace(file, beat.step, seconds / steps, own / steps if beat.own and own >= 0 else None)


def _run(beat: Beat) -> str:
    return f"{beat.pid}:{beat.started_at}"
