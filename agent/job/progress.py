"""How the jobs of this node go: said with each heartbeat, and told as a fault when a save is overdue or a rank lags.

Decides what is told of a job. A run that stands still is told by `stalled`; whether its save is overdue then is no
news. What was learned of a job's saves outlives its processes: who trains on after a restart knows when the run before
saved. It must not know how beats or processes are read, or who sends.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agent.job.beat import Beat
from agent.job.paces import WINDOW_SECONDS, follow_paces
from agent.job.rhythm import Bounds
from agent.job.standing import Member, Standing, note, note_steps, stand, stand_by_file, with_notes
from agent.job.straggling import Lag, find_lags
from agent.job.table import ProcessTable
from agent.job.told import JobsTold
from agent.job.trainer import Trainer
from agent.job_file import JobFile
from agent.parsers.sighting import Sighting, known
from agent.polls.reading import Holds, Instant, Memory, NotMeasured, Reading
from policies.contract.events import Component, JobRef
from policies.contract.vocabulary import ComponentType, Kind, Severity

EVERY_SECONDS = 10.0
_FRESH_SECONDS = 5.0  # `stalled` looks more often than that, so that this look costs none of its own
LAGS_AFTER_SECONDS = 180.0
_MOST_JOBS, _MOST_MEMBERS = 8, 64
_OVERDUE = frozenset({Kind.TRAINING_CHECKPOINT_OVERDUE})
_STRAGGLER = frozenset({Kind.TRAINING_STRAGGLER})
Json = dict[str, Any]


class ProgressPoll:
    """Looks how each job goes; *overdue* seconds without a save are too many whatever is usual, 0: only what is."""

    def __init__(
        self, table: ProcessTable, job_file: JobFile, told: JobsTold, bounds: Bounds, overdue: float = 0.0
    ) -> None:
        """Nothing was looked at yet."""
        self._table, self._job_file, self._told = table, job_file, told
        self._bounds, self._overdue = bounds, overdue

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """Return whose save is overdue and who lags."""
        jobs: Json = memory.setdefault("jobs", {})
        standings, readings = list[Standing](), list[Reading]()
        named = self._job_file()
        for job, members in self._jobs(named):
            state = jobs.setdefault(job.id, {})
            state["seen"] = now.ticks
            readings += self._lags(members, state, now.ticks)
            standing = self._stand(job, members, state, now, is_named=job is named)
            if standing:
                standings.append(standing)
                readings += judge_save(standing, self._overdue)
        for job_id in sorted(jobs, key=lambda one: float(jobs[one].get("seen", 0.0)))[:-_MOST_JOBS]:
            del jobs[job_id]
        self._told.put([one.progress for one in standings], now.ticks)
        return readings

    def _jobs(self, named: JobRef | None) -> list[tuple[JobRef, list[Member]]]:
        """Return the jobs here with those of their processes that beat; where a file names one, all are of it."""
        found: dict[str, tuple[JobRef, list[Member]]] = {named.id: (named, [])} if named and named.id else {}
        self._table.beating(_FRESH_SECONDS)
        for one in self._table.lately().values():
            job, member = named or one.job, _member(one)
            if job and job.id and member and (job.id in found or len(found) < _MOST_JOBS):
                members = found.setdefault(job.id, (job, []))[1]
                if len(members) < _MOST_MEMBERS:
                    members.append(member)
        return list(found.values())

    def _stand(
        self, job: JobRef, members: Sequence[Member], state: Json, now: Instant, *, is_named: bool
    ) -> Standing | None:
        notes, epoch = self._job_file.notes, now.at.timestamp()
        if not members:
            return stand_by_file(job, notes, state, epoch, now.ticks)
        if is_named:
            note(notes, state, epoch, now.ticks)
        standing = stand(job, members, state, now.ticks, self._bounds)
        return with_notes(standing, notes) if standing and is_named else standing

    @staticmethod
    def _lags(members: Sequence[Member], state: Json, ticks: float) -> list[Reading]:
        """Return who lags, as the window says that closed last."""
        beats: Mapping[str, Beat] = {one.file: one.beat for one in members if one.alive}
        window = follow_paces(state.setdefault("paces", {}), beats, ticks)
        if window:
            for pace in window.paces[:1]:
                note_steps(state, pace.step_seconds)
            lags = {lag.file: _to_json(lag) for lag in find_lags(window)}
            state["lags"] = {"at": ticks, "seconds": window.seconds, "of": lags}
        said: Json = state.get("lags", {"at": ticks, "seconds": WINDOW_SECONDS, "of": {}})
        lasted = 2 * float(said["seconds"])
        here = [(one, Lag(**said["of"][one.file])) for one in members if one.alive and one.file in said["of"]]
        if ticks - said["at"] > lasted + WINDOW_SECONDS:  # they make no steps any more: what was so is no news
            return [NotMeasured(_STRAGGLER, _process(one)) for one, _ in here]
        return [judge_lag(one, lag, max(LAGS_AFTER_SECONDS, lasted)) for one, lag in here]


def judge_save(standing: Standing, longest: float) -> list[Reading]:
    """Return that the save of a job is overdue, or that nobody can tell: a run that stands still saves nothing."""
    saves, first = standing.saves, standing.first
    after, component = saves.overdue_after(longest), Component(type=ComponentType.JOB, uuid=standing.job.id)
    if after is None or saves.ago is None or saves.ago <= after:
        return []
    if standing.progress.alive is False:
        return [NotMeasured(_OVERDUE, component)]
    attributes = known(
        pid=first.pid if first else None,
        rank=first.beat.rank if first else standing.job.rank,
        step=standing.progress.step,
        saved_step=saves.step,
        saved_seconds_ago=round(saves.ago, 1),
        usual_seconds=None if saves.usual is None else round(saves.usual, 1),
        allowed_seconds=round(after, 1),
    )
    usual = "" if saves.usual is None else f"; it usually saves every {saves.usual:.0f} s"
    where = "" if saves.step is None else f", at step {saves.step}"
    message = f"{standing.job.id} has saved nothing for {saves.ago:.0f} s{where}{usual}"
    sighting = Sighting(Kind.TRAINING_CHECKPOINT_OVERDUE, Severity.WARNING, component, attributes)
    return [Holds(sighting, message)]


def judge_lag(member: Member, lag: Lag, after: float) -> Holds:
    """Return that a rank slows its peers down, told once it did so for *after* seconds."""
    what = "own" if lag.own else "steps"
    attributes = known(
        pid=member.pid,
        process=member.name,
        rank=member.beat.rank,
        step=member.beat.step,
        measured=what,
        seconds=round(lag.seconds, 4),
        peers_seconds=round(lag.usual, 4),
        step_seconds=round(lag.step_seconds, 4),
        peers=lag.peers,
    )
    who = f"rank {member.beat.rank}" if member.beat.rank is not None else f"process {member.pid}"
    spends = "of its own in each step" if lag.own else "for a step"
    message = f"{who} takes {lag.seconds:.3g} s {spends}; {lag.peers} others here take {lag.usual:.3g} s"
    return Holds(
        Sighting(Kind.TRAINING_STRAGGLER, Severity.WARNING, _process(member), attributes),
        message,
        after=after,
        cleared_after=WINDOW_SECONDS,
    )


def _member(one: Trainer) -> Member | None:
    if one.beats is None or one.has_ended:
        return None
    return Member(one.beats.name, one.pid, one.process.name, one.beats.beat, one.gone_at is None)


def _process(member: Member) -> Component:
    return Component(type=ComponentType.PROCESS, index=member.pid)


def _to_json(lag: Lag) -> Json:
    return {name: getattr(lag, name) for name in Lag.__slots__}
