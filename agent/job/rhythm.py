"""How long a process may go without a beat: learned from its own beats, phase by phase.

Decides that bound. Its parts, the largest of which counts:
- the floor: an operator's `hang_after_seconds` for steps; for a phase that is slow by nature (starting, compile, save,
  evaluate, load), and before anything is learned, `slow_phase_seconds`, half of it once the phase was seen three times;
- ten times the usual time between two beats (median), and that plus ten times its spread (median absolute deviation:
  one pause among hundred steps changes neither);
- twice the longest pause that it came back from by itself, up to an hour: an evaluation that nobody declares is not
  taken for a hang each time.
It must not know processes, files or a clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from agent.job.beat import Beat, Phase

_SAMPLES = 32
_STEPS_TO_LEARN, _SLOW_TO_LEARN = 5, 3
_TIMES_USUAL, _TIMES_SPREAD, _TIMES_LONGEST = 10.0, 10.0, 2.0
_MAD_TO_SIGMA = 1.4826  # of a normal distribution
_LONGEST_PAUSE_SECONDS = 1800.0
_SLOW = frozenset({Phase.STARTING, Phase.COMPILE, Phase.SAVE, Phase.EVALUATE, Phase.LOAD})
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an operator may set, in seconds."""

    hang_after: float = 120.0
    slow_phase: float = 1800.0


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How a process beats now: seconds without a beat, how many are allowed, the usual time between two (if known)."""

    silent: float
    allowed: float
    usual: float | None

    @property
    def is_overdue(self) -> bool:
        """Whether it should have beaten."""
        return self.silent > self.allowed


def follow_beat(state: Json, beat: Beat, ticks: float, bounds: Bounds) -> Rhythm:
    """Return the rhythm at *ticks* seconds since boot, and note in *state* (JSON, at first empty) what was learned."""
    run = f"{beat.pid}:{beat.started_at}"
    if state.get("run") != run or beat.beats < state["beats"]:
        state.clear()
        state |= {"run": run, "gaps": {}, "seen": {}, "longest": {}, "before": None}
        state |= {"beats": beat.beats, "at": beat.at, "heard": ticks}
    elif beat.beats > state["beats"]:
        _learn(state, beat)
        state |= {"beats": beat.beats, "at": beat.at, "heard": ticks, "before": state["looked"]}
    state |= {"phase": int(beat.phase), "looked": ticks}
    allowed, usual = _allowed(state, beat.phase, bounds)
    return Rhythm(_silent(state, beat, ticks), allowed, usual)


def _learn(state: Json, beat: Beat) -> None:
    """Note the time between beats as that of the phase it was spent in."""
    more, seconds = beat.beats - state["beats"], (beat.at - state["at"]) / 1e9
    if seconds < 0 or not state["at"] or (more > 1 and state["phase"] != beat.phase):
        return
    phase = str(state["phase"])
    gaps = state["gaps"].setdefault(phase, [])
    gaps.append(round(seconds / more, 4))
    del gaps[:-_SAMPLES]
    state["seen"][phase] = state["seen"].get(phase, 0) + more
    state["longest"][phase] = max(state["longest"].get(phase, 0.0), gaps[-1])


def _silent(state: Json, beat: Beat, ticks: float) -> float:
    """Return how long ago the last beat was, by its own word as far as that can be: a container's clock may differ."""
    said, heard = ticks - beat.at / 1e9, ticks - float(state["heard"])
    if not beat.at or said < heard:
        return max(0.0, heard)
    return said if state["before"] is None else min(said, ticks - float(state["before"]))


def _allowed(state: Json, phase: Phase, bounds: Bounds) -> tuple[float, float | None]:
    gaps: Sequence[float] = state["gaps"].get(str(int(phase)), ())
    slow = phase in _SLOW
    learned = state["seen"].get(str(int(phase)), 0) >= (_SLOW_TO_LEARN if slow else _STEPS_TO_LEARN)
    steps = state["gaps"].get(str(int(Phase.TRAIN)), ())
    usual = median(steps) if steps else None
    longest = min(_TIMES_LONGEST * state["longest"].get(str(int(phase)), 0.0), 2 * _LONGEST_PAUSE_SECONDS)
    if not learned:
        return max(bounds.slow_phase, bounds.hang_after, longest), usual
    floor = max(bounds.hang_after, bounds.slow_phase / 2) if slow else bounds.hang_after
    middle = median(gaps)
    spread = _MAD_TO_SIGMA * median(abs(gap - middle) for gap in gaps)
    return max(floor, _TIMES_USUAL * middle, middle + _TIMES_SPREAD * spread, longest), usual
