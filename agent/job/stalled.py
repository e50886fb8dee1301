"""Training that stands still: a process that should have beaten long ago, and is still there.

What it does meanwhile proves no life: a collective that waits for a lost peer burns a whole core, and the GPU's load
shows 100 %. So a late beat is the fault, and what the process does is told beside it. On one node the one that was
stopped, hangs in the kernel or died is the one that the others wait for: theirs are symptoms. A process that is gone
is no hang (`exits` tells of it), nor is one that said that it ended.
Decides when training stands still and who waits for whom. It must not know how beats or processes are read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent.job.beat import Phase
from agent.job.matching import Matched
from agent.job.rhythm import Bounds, Rhythm, follow_beat
from agent.job.table import ProcessTable
from agent.parsers.sighting import Sighting, known
from agent.polls.reading import Holds, Instant, Memory, Reading
from agent.proc import PF_EXITING, ProcessStat, cpu_of_tree, read_status
from policies.contract.events import Component
from policies.contract.vocabulary import ComponentType, Kind, Severity

_BUSY = 0.5  # of a core
_LONGEST_AFTER_SECONDS = 30.0
_UNKNOWN_AFTER_SECONDS = 10.0
_STEPS_AFTER = 2.0


@dataclass(frozen=True, slots=True)
class Watched:
    """One process that beats, its rhythm, and the share of a core that it used lately (None: not known yet)."""

    matched: Matched
    process: ProcessStat
    rhythm: Rhythm
    cpu: float | None

    @property
    def is_blocked(self) -> bool:
        """Whether it cannot go on by itself: somebody stopped it, or the kernel holds it."""
        return self.process.is_stopped or self.process.state == "D"

    def stands_still(self, bounds: Bounds) -> bool:
        """Tell whether it should have beaten; one that was stopped has no slow phase."""
        allowed = min(self.rhythm.allowed, bounds.hang_after) if self.process.is_stopped else self.rhythm.allowed
        return self.rhythm.silent > allowed


def judge_stalled(watched: Iterable[Watched], bounds: Bounds, died: Iterable[str] = ()) -> list[Holds]:
    """Return a condition for each process of *watched* that stands still; of the jobs *died* one here is gone."""
    still = [one for one in watched if one.stands_still(bounds)]
    blocked = {one.matched.beat.job for one in still if one.is_blocked} | set(died)
    return [_holds(one, waits=not one.is_blocked and one.matched.beat.job in blocked) for one in still]


def _holds(one: Watched, *, waits: bool) -> Holds:
    beat, rhythm = one.matched.beat, one.rhythm
    attributes = known(
        pid=one.process.pid,
        process=one.process.name,
        rank=beat.rank,
        step=beat.step,
        phase=beat.phase.name.lower(),
        stalled_seconds=round(rhythm.silent, 1),
        allowed_seconds=round(rhythm.allowed, 1),
        learned_step_seconds=None if rhythm.usual is None else round(rhythm.usual, 3),
        state=one.process.state,
        cpu_busy=None if one.cpu is None else one.cpu >= _BUSY,
        symptom=True if waits else None,
    )
    sighting = Sighting(
        Kind.TRAINING_STALLED,
        Severity.ERROR,
        Component(type=ComponentType.PROCESS, index=one.process.pid),
        attributes,
    )
    usual = _UNKNOWN_AFTER_SECONDS if rhythm.usual is None else _STEPS_AFTER * rhythm.usual
    return Holds(sighting, _words(one), after=min(_LONGEST_AFTER_SECONDS, usual))


def _words(one: Watched) -> str:
    beat = one.matched.beat
    who = f"rank {beat.rank}" if beat.rank is not None else f"process {one.process.pid}"
    where = f"in phase {beat.phase.name.lower()}" + (f" after step {beat.step}" if beat.step is not None else "")
    usual = "" if one.rhythm.usual is None else f" (a step takes {one.rhythm.usual:.3g} s)"
    how = {"T": ", stopped", "t": ", stopped by a debugger", "D": ", waiting in the kernel"}.get(one.process.state, "")
    return f"{who} has not beaten for {one.rhythm.silent:.0f} s {where}{usual}{how}"


def _is_over(process: ProcessStat) -> bool:
    return not process.is_alive or bool(process.flags & PF_EXITING)


class StalledPoll:
    """Looks whether each process that beats still does."""

    def __init__(self, table: ProcessTable, proc: Path, bounds: Bounds) -> None:
        """Nothing was looked at yet."""
        self._table, self._proc, self._bounds = table, proc, bounds
        self._cpu: dict[int, tuple[float, float, float]] = {}  # pid -> when, CPU seconds until then, its start

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """Return the processes that stand still."""
        rhythms = memory.setdefault("rhythms", {})
        files = self._table.beating()
        for name in rhythms.keys() - {one.name for one in files}:
            del rhythms[name]
        watched = []
        for one in files:
            if one.process is None or _is_over(one.process) or one.beat.phase is Phase.ENDED:
                rhythms.pop(one.name, None)  # the spool keeps memory: what is gone takes no room
                continue
            rhythm = follow_beat(rhythms.setdefault(one.name, {}), one.beat, now.ticks, self._bounds)
            watched.append(Watched(one, one.process, rhythm, None))
        watched = [one for one in watched if not (one.stands_still(self._bounds) and self._is_killed(one))]
        still = [one.process.pid for one in watched if one.stands_still(self._bounds)]
        self._cpu = {pid: seen for pid, seen in self._cpu.items() if pid in still}
        shares = [replace(one, cpu=self._share(one, now, still)) for one in watched]
        return judge_stalled(shares, self._bounds, self._died() if still else ())

    def _died(self) -> set[str]:
        """Return the jobs of which a process here is gone without a goodbye: the others wait for it."""
        gone = (one for one in self._table.now() if one.gone_at is not None and not one.has_ended)
        return {one.beats.beat.job for one in gone if one.beats}

    def _is_killed(self, one: Watched) -> bool:
        """Tell whether it will go on no more: `hung` tells of one that was killed and cannot end."""
        return read_status(self._proc, one.process.pid).killed

    def _share(self, one: Watched, now: Instant, still: Sequence[int]) -> float | None:
        """Return the share of a core that the process and its children use, once it was looked at twice."""
        if one.process.pid not in still:
            return None
        used, process = cpu_of_tree(self._proc, one.process), one.process
        when, before, started = self._cpu.setdefault(process.pid, (now.ticks, used, process.started))
        return (used - before) / (now.ticks - when) if now.ticks > when and started == process.started else None
