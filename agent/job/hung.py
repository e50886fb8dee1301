"""Processes that hang, or that are over and cannot end, while they hold a GPU.

`process.hung`: one that trains and tells no beat (`stalled` watches those that do) is stopped; or waits in the kernel
without using any CPU; or has used none for very long. `gpu.held`: one that was killed, or is ending, and is still
there; or whose first thread ended while another cannot: until it is gone no other may have its GPU, and no signal
helps. A plain zombie holds nothing (its files were closed before) and is told by nobody. Decides what hangs. It must
not know how processes are read.

Sources: kernel/exit.c (do_exit: exit_files before exit_notify, which makes the zombie); proc_pid_stat(5) for states.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent.job.rhythm import Bounds
from agent.job.table import ProcessTable
from agent.job.trainer import Trainer
from agent.parsers.sighting import Sighting, known
from agent.polls.reading import Holds, Instant, Memory, NotMeasured, Reading
from agent.proc import PF_EXITING, cpu_of_tree, live_threads, read_stat, read_status
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Severity

Json = dict[str, Any]  # pid -> its start, when it last worked, CPU until then; or pid -> its start
HELD_AFTER_SECONDS = 60.0
_HELD = frozenset({Kind.GPU_HELD})
_LONGEST_HANG_SECONDS = 120.0
_IDLE_SHARE, _IDLE_SECONDS = 0.002, 0.2  # watchdogs and monitors in a process that hangs still tick a little


@dataclass(frozen=True, slots=True)
class Looked:
    """One process as it was looked at. ``idle_for``: seconds in which it and its children used no CPU to speak of."""

    trainer: Trainer
    killed: bool
    exiting: bool
    threads: int  # live ones, where the first is a zombie
    idle_for: float

    @property
    def is_held(self) -> bool:
        """Whether it should be gone."""
        alive = self.trainer.process.is_alive
        return (alive and (self.killed or self.exiting)) or (not alive and self.threads > 0)


def judge_looked(looked: Looked, bounds: Bounds) -> Holds | None:
    """Return what is wrong with one process."""
    one, state = looked.trainer, looked.trainer.process.state
    if looked.is_held:
        return _held(looked) if _holds_on(looked) else None
    if one.beats is not None or not one.is_training:
        return None
    soon = min(bounds.hang_after, _LONGEST_HANG_SECONDS)
    if one.process.is_stopped:
        how = "stopped by a debugger" if state == "t" else "stopped"
        return _hung(looked, Severity.ERROR, f"was {how}", after=soon)
    if state == "D" and looked.idle_for >= soon:
        return _hung(looked, Severity.ERROR, f"has waited in the kernel for {looked.idle_for:.0f} s")
    if looked.idle_for >= bounds.slow_phase:
        return _hung(looked, Severity.WARNING, f"has used no CPU for {looked.idle_for:.0f} s")
    return None


def _holds_on(looked: Looked) -> bool:
    return looked.is_held and looked.trainer.is_holding


def _hung(looked: Looked, severity: Severity, how: str, after: float = 0.0) -> Holds:
    attributes = _attributes(looked) | {"idle_seconds": round(looked.idle_for, 1)}
    sighting = Sighting(Kind.PROCESS_HUNG, severity, _component(looked), attributes)
    return Holds(sighting, f"{_who(looked)} {how}", after=after)


def _held(looked: Looked) -> Holds:
    why = "was killed" if looked.killed else "is ending" if looked.exiting else "ended, but a thread of it did not"
    sighting = Sighting(Kind.GPU_HELD, Severity.ERROR, _component(looked), _attributes(looked))
    message = f"{_who(looked)} {why} and still holds a GPU (state {looked.trainer.process.state})"
    return Holds(sighting, message, after=HELD_AFTER_SECONDS)


def _component(looked: Looked) -> Component:
    return Component(type=ComponentType.PROCESS, index=looked.trainer.pid)


def _attributes(looked: Looked) -> dict[str, Scalar]:
    one = looked.trainer
    return known(
        pid=one.pid,
        process=one.process.name,
        rank=one.rank,
        step=one.step,
        state=one.process.state,
        gpus=",".join(map(str, sorted(one.gpus))) or None,
        threads=looked.threads or None,
    )


def _who(looked: Looked) -> str:
    one = looked.trainer
    return f"rank {one.rank} ({one.process.name})" if one.rank is not None else f"{one.process.name} ({one.pid})"


class HungPoll:
    """Looks at each process that trains or holds a GPU."""

    def __init__(self, table: ProcessTable, proc: Path, bounds: Bounds) -> None:
        """Nothing was looked at yet."""
        self._table, self._proc, self._bounds = table, proc, bounds
        self._worked: Json = {}

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """Return who hangs, and who cannot end; *memory* holds since when, for an agent that begins anew."""
        here = [one for one in self._table.now() if one.gone_at is None]
        known = memory.get("worked", {})
        self._worked = memory["worked"] = {str(one.pid): known[str(one.pid)] for one in here if str(one.pid) in known}
        looked = [found for one in here if (found := self._look(one, now.ticks))]
        held = {str(one.trainer.pid): one.trainer.process.started for one in looked if _holds_on(one)}
        unseen = self._unseen(memory.get("held", {}), {str(one.pid) for one in here})
        memory["held"] = held | unseen
        unknown = [NotMeasured(_HELD, Component(type=ComponentType.PROCESS, index=int(pid))) for pid in unseen]
        return [*(wrong for one in looked if (wrong := judge_looked(one, self._bounds))), *unknown]

    def _unseen(self, held: Json, here: Collection[str]) -> Json:
        """Return those that could not end and are still there, though nothing shows any more that they hold a GPU.

        A process that ends closes its files before it lets go of its GPU, so who looks for the first time sees none.
        """
        stats = {pid: read_stat(self._proc, int(pid)) for pid in held if pid not in here}
        return {pid: held[pid] for pid, stat in stats.items() if stat and stat.started == held[pid]}

    def _look(self, trainer: Trainer, ticks: float) -> Looked | None:
        """Return how it is at this moment: the table's state may be older than the flags that are read here."""
        stat = read_stat(self._proc, trainer.pid)
        if stat is None or stat.started != trainer.process.started:
            return None
        one = replace(trainer, process=stat)
        return Looked(
            trainer=one,
            killed=read_status(self._proc, one.pid).killed,
            exiting=bool(stat.flags & PF_EXITING),
            threads=0 if stat.is_alive else live_threads(self._proc, one.pid),
            idle_for=self._idle_for(one, ticks),
        )

    def _idle_for(self, one: Trainer, ticks: float) -> float:
        used = cpu_of_tree(self._proc, one.process)
        started, when, before = self._worked.get(str(one.pid), (0.0, ticks, -1.0))
        worked = used - before > _IDLE_SECONDS + _IDLE_SHARE * (ticks - when) or used < before
        if before < 0 or started != one.process.started or worked:
            self._worked[str(one.pid)] = [one.process.started, ticks, round(used, 2)]
            return 0.0
        return float(ticks - when)
