"""How each job of this node stands: its beats, its job file and what was remembered of it, put together.

Decides which jobs this node speaks for: those whose first rank is here, and those of which nobody says a rank. What
training says wins over the job file, but for the job's name and worth. Pure. It must not know processes or files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from agent.job.beat import Beat
from agent.job.rhythm import Bounds, follow_beat
from agent.job.saves import Saves, follow_saves, note_save, read_saves
from agent.job_file import JobNotes
from policies.contract.base import LARGEST_NUMBER
from policies.contract.events import JobRef
from policies.contract.progress import JobProgress

_WINDOWS = 8
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Member:
    """One process of a job, by its beat file; ``alive`` is False when it is gone and had not said goodbye."""

    file: str
    pid: int
    name: str
    beat: Beat
    alive: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """One job: its first rank here (None: only the job file tells), what is said of it, and its saves."""

    job: JobRef
    first: Member | None
    progress: JobProgress
    saves: Saves


def first_of(members: Sequence[Member]) -> Member | None:
    """Return who speaks for the job: its first rank; None where that is elsewhere.

    Ranks may be given anew at each start, so those that are gone count only where no other lives.
    """
    here = [one for one in members if one.alive] or members
    ranks = [one.beat.rank for one in here if one.beat.rank is not None]
    if ranks and min(ranks) > 0:
        return None
    return min(here, key=lambda one: (one.beat.rank is None, one.beat.rank or 0, one.pid), default=None)


def stand(job: JobRef, members: Sequence[Member], state: Json, ticks: float, bounds: Bounds) -> Standing | None:
    """Return how *job* stands by what its processes here say; None where another node speaks for it."""
    first = first_of(members)
    if first is None:
        return None
    beat = first.beat
    follow_saves(state.setdefault("saves", {}), max((one.beat for one in members), key=lambda one: one.save_at), ticks)
    saves = read_saves(state["saves"], ticks)
    rhythm = follow_beat(state.setdefault("rhythm", {}), beat, ticks, bounds)
    steps = state.get("steps", ())
    progress = JobProgress(
        id=job.id,
        orchestrator=job.orchestrator,
        world_size=beat.world_size or None,
        alive=first.alive and not rhythm.is_overdue,
        step=_readable(beat.step),
        moved_ago=_moved(state, beat.step, ticks),
        step_seconds=round(median(steps), 3) if steps else None,
        value=beat.value,
        **_saved(saves),
    )
    return Standing(job, first, progress, saves)


def stand_by_file(job: JobRef, notes: JobNotes, state: Json, now: float, ticks: float) -> Standing | None:
    """Return how *job* stands where no process says more; *now* is the wall clock's epoch, which the file goes by."""
    if job.rank:
        return None
    note(notes, state, now, ticks)
    saves = read_saves(state.get("saves", {}), ticks)
    moved = _moved(state, job.step, ticks)
    progress = JobProgress(
        id=job.id, orchestrator=job.orchestrator, step=_readable(job.step), moved_ago=moved, **_saved(saves)
    )
    return Standing(job, None, _with(progress, notes), saves)


def note(notes: JobNotes, state: Json, now: float, ticks: float) -> None:
    """Note the save that the job file tells of."""
    if notes.saved_at is not None:
        note_save(state.setdefault("saves", {}), notes.saved_step, ticks - max(0.0, now - notes.saved_at.timestamp()))


def _with(progress: JobProgress, notes: JobNotes) -> JobProgress:
    told = {"world_size": notes.world_size, "value": notes.value}
    return progress.model_copy(update={name: value for name, value in told.items() if value is not None})


def with_notes(standing: Standing, notes: JobNotes) -> Standing:
    """Return *standing* with what the operator says of the job."""
    return Standing(standing.job, standing.first, _with(standing.progress, notes), standing.saves)


def note_steps(state: Json, seconds: float) -> None:
    """Note what a step took in a window."""
    steps = state.setdefault("steps", [])
    steps.append(round(seconds, 4))
    del steps[:-_WINDOWS]


def _moved(state: Json, step: int | None, ticks: float) -> float | None:
    """Return since when the step stands, None when it never was seen to move."""
    if step is None:
        return None
    if step != state.get("step"):
        state["moved"] = ticks if "step" in state else None
        state["step"] = step
    moved = state.get("moved")
    return None if moved is None else round(max(0.0, ticks - moved), 1)


def _readable(step: int | None) -> int | None:
    """Return *step* if every reader of JSON can keep it: a process may write what it likes."""
    return step if step is not None and 0 <= step <= LARGEST_NUMBER else None


def _saved(saves: Saves) -> Mapping[str, Any]:
    return {
        "saved_step": _readable(saves.step),
        "saved_ago": None if saves.ago is None else round(saves.ago, 1),
        "save_seconds": None if saves.usual is None else round(saves.usual, 1),
    }
