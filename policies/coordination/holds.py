"""Which incidents need a job stopped. The last to let go resumes it, once.

A hold on a job whose resume is under way is kept: the resumer sees it before its next rung and hands over. It must not
know how a job is stopped.
"""

from collections.abc import Mapping
from datetime import datetime

from policies.contract.base import Model
from policies.contract.times import Moment

MOST_SETTLING = 16


class Blame(Model):
    """A policy found the fault with the run as a whole: at ``step``, if it knows that. It counts ``until`` then."""

    policy: str
    priority: int
    at: Moment
    until: Moment
    step: int | None = None
    why: str = ""


class Job(Model):
    """``holds`` are incident ids. ``resumer`` is the incident that emptied them and has not let the job go yet.

    ``resumes`` counts how often it was let go, ``resumed_by`` is who did last, at ``resumed_at``. ``blamed`` is what
    was found about the run itself, and not about its nodes. ``settling`` is incident -> until when it may still come to
    need the run stopped.
    """

    cluster: str
    id: str
    holds: tuple[str, ...] = ()
    resumer: str | None = None
    resumes: int = 0
    resumed_by: str | None = None
    resumed_at: Moment | None = None
    blamed: tuple[Blame, ...] = ()
    settling: dict[str, Moment] = {}
    version: int = 1

    def others(self, incident: str) -> tuple[str, ...]:
        """Return who holds the job besides *incident*."""
        return tuple(holder for holder in self.holds if holder != incident)


def expect(job: Job, incident: str, until: datetime, now: datetime) -> Job:
    """Return the job with *incident* settling *until* then, after which it may need the run stopped."""
    left = {each: moment for each, moment in job.settling.items() if moment > now}
    newest = sorted({**left, incident: until}.items(), key=lambda one: (one[1], one[0]))[-MOST_SETTLING:]
    return job.model_copy(update={"settling": dict(sorted(newest))})


def hold(job: Job, incident: str) -> Job:
    """Return the job held by *incident* too."""
    if incident in job.holds:
        return job
    settled = _without(job.settling, incident)
    return job.model_copy(update={"holds": tuple(sorted((*job.holds, incident))), "settling": settled})


def release(job: Job, incident: str) -> Job:
    """Return the job without *incident*'s hold; who empties the holds becomes the resumer in the same write."""
    if incident not in job.holds:
        return job
    left = job.others(incident)
    return job.model_copy(update={"holds": left, "resumer": job.resumer if left else incident})


def drop(job: Job, incident: str) -> Job:
    """Return the job with nothing of *incident* in it: it neither needs it stopped nor resumes it."""
    resumer = None if job.resumer == incident else job.resumer
    settled = _without(job.settling, incident)
    return job.model_copy(update={"holds": job.others(incident), "resumer": resumer, "settling": settled})


def let_go(job: Job, incident: str, now: datetime) -> Job:
    """Return the job after *incident* resumed it."""
    if job.resumer != incident:
        return job
    return job.model_copy(
        update={"resumer": None, "resumes": job.resumes + 1, "resumed_by": incident, "resumed_at": now}
    )


def claim(job: Job, incident: str, resumes: int) -> Job | None:
    """Return the job with *incident* as its resumer, or None when the resume is not its own any more.

    *resumes* is the job's count when *incident* became the resumer: as long as nobody let the job go since, a claim
    that was dropped half-way (by a crash in the middle of parking) may be taken up again.
    """
    if job.others(incident) or job.resumer not in {None, incident}:
        return None
    if job.resumes == resumes:
        return job.model_copy(update={"resumer": incident})
    return job if job.resumed_by == incident else None


def _without(settling: Mapping[str, datetime], incident: str) -> dict[str, datetime]:
    return {each: until for each, until in settling.items() if each != incident}
