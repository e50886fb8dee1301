"""When a job saved last, and how far apart its saves usually are.

Learned from what training says of each whole save (`saved` in training/FORMAT.md). Saves at one step are one: a
framework that writes "last" and "best" saves twice. A process that starts again has told none, yet what the one before
saved is still there. Decides when a save is overdue: three times the usual distance, which pauses and an evaluation
between two saves do not reach, and never before two distances were seen; or an operator's own bound. Times are in
seconds since boot. It must not know files, processes or a clock.
"""

from dataclasses import dataclass
from statistics import median_high
from typing import Any

from agent.job.beat import Beat

_SAMPLES, _DISTANCES_TO_LEARN = 16, 2
TIMES_USUAL = 3.0
LEAST_OVERDUE_SECONDS = 600.0  # a run that saves every minute, to be killed at any time, is not worth a person's look
_UNSEEN_SECONDS = 120.0  # not looked at for so long: saves may have been missed, so that two are no neighbours
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Saves:
    """The newest save: its step, how long ago it was, and the usual distance between two; None where unknown."""

    step: int | None
    ago: float | None
    usual: float | None

    def overdue_after(self, longest: float) -> float | None:
        """Return the seconds after which a save is overdue; *longest* is an operator's bound, 0 none."""
        learned = None if self.usual is None else max(LEAST_OVERDUE_SECONDS, TIMES_USUAL * self.usual)
        bounds = [bound for bound in (learned, longest or None) if bound is not None]
        return min(bounds, default=None)


def follow_saves(state: Json, beat: Beat, ticks: float) -> None:
    """Note in *state* (JSON, of one job, at first empty) the save that *beat* tells of, at *ticks* since boot."""
    looked, state["looked"] = state.get("looked", ticks), ticks
    at, step, told = _when(beat, ticks), beat.save_step, f"{beat.pid}:{beat.started_at}:{beat.saves}"
    if not beat.saves or step is None or told == state.get("told") or not _is_newer(state, at):
        return
    state["told"] = told
    before, before_step = state.get("at"), state.get("step")
    state |= {"at": at, "step": step}
    if before is None or before_step == step or ticks - looked > _UNSEEN_SECONDS:
        return
    distances = state.setdefault("distances", [])
    distances.append(round(at - before, 1))
    del distances[:-_SAMPLES]


def note_save(state: Json, step: int | None, at: float) -> None:
    """Note a save that somebody else than training tells of; it teaches no distance."""
    if _is_newer(state, at):
        state |= {"at": at, "step": step}


def read_saves(state: Json, ticks: float) -> Saves:
    """Return what *state* says at *ticks*."""
    at, distances = state.get("at"), state.get("distances", ())
    usual = median_high(distances) if len(distances) >= _DISTANCES_TO_LEARN else None
    return Saves(state.get("step"), None if at is None else max(0.0, ticks - at), usual)


def _is_newer(state: Json, at: float) -> bool:
    return "at" not in state or at > float(state["at"])


def _when(beat: Beat, ticks: float) -> float:
    """Return when the save was; a process whose clock is not ours has just saved, as far as we know."""
    at = beat.save_at / 1e9
    return at if 0 < at <= ticks else ticks
