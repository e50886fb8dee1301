"""Who may act on one node generation. Each acquire raises the fence, so that an executor of before is told to stop.

A lease expires by the clock that is passed in, never because a table forgot it. It must not know incidents' statuses.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from policies.contract.base import Model
from policies.contract.restraints import Cancellation
from policies.contract.times import Moment, add_seconds
from policies.coordination.denials import Refusal

# Past the incident's deadline the sweep parks it; a lease outlives the deadline so that the sweep gets there first.
GRACE_SECONDS = 900.0
MOST_CANCELLED = 16  # of one node
MOST_OF_A_SORT = 4  # whatever is recorded anew began half an hour after the one before, so that these are of hours
MOST_TOLD = 256  # sixteen GPUs with sixteen decisions each, 27 KB
PARKED_SECONDS = 30 * 86400.0  # a person may take days; nobody else may act on the node meanwhile


class Told(NamedTuple):
    """The recorded *incident* of a ``sort`` of decision on a ``subject``; both are digests (`repeats.py`).

    ``at`` is when it was told or, where there is little room, about when it was counted last. An item holds all this as
    a list, and whoever knows fewer columns reads none of a lease that has more: what is added is a field of `Lease`.
    """

    subject: str
    sort: str
    incident: str
    at: Moment


class Lease(Model):
    """Who may act on one node generation, and under which ``fence``. ``outcome`` says how it was left.

    ``told`` names the incidents in which decisions that nobody acted on were recorded; they never held it.
    ``refusals`` say what a person wants nobody to do here, and until when.
    """

    cluster: str
    generation: str
    incident: str
    fence: int
    expires_at: Moment
    released: bool = False
    outcome: str = ""
    released_at: Moment | None = None
    cancelled: tuple[Cancellation, ...] = ()  # what took reasons away, the newest of each policy and part
    told: tuple[Told, ...] = ()  # the latest last
    refusals: tuple[Refusal, ...] = ()
    version: int = 1

    def held_by(self, incident: str, fence: int, now: datetime) -> bool:
        """Whether *incident* may act now under *fence*."""
        return not self.released and (self.incident, self.fence) == (incident, fence) and now < self.expires_at


def acquire(lease: Lease | None, *, cluster: str, generation: str, incident: str, until: datetime) -> Lease:
    """Return the lease as *incident* holds it until *until*, under the next fence."""
    return Lease(
        cluster=cluster,
        generation=generation,
        incident=incident,
        fence=lease.fence + 1 if lease else 1,
        expires_at=add_seconds(until, GRACE_SECONDS),
        cancelled=lease.cancelled if lease else (),
        told=lease.told if lease else (),
        refusals=lease.refusals if lease else (),
        version=lease.version if lease else 1,
    )


def nobodys(cluster: str, generation: str, at: datetime) -> Lease:
    """Return the lease of a node that no incident has had: only to remember what was cancelled before it was found."""
    return Lease(cluster=cluster, generation=generation, incident="", fence=0, expires_at=at, released=True)


def cancel(lease: Lease, told: Cancellation) -> Lease:
    """Return the lease with *told* remembered, unless it knows as much; of very many the newest."""
    known = {(one.policy, one.component): one for one in lease.cancelled}
    before = known.get((told.policy, told.component))
    if before is not None and (before.at, before.event_id) >= (told.at, told.event_id):
        names = tuple(sorted({*before.also, *told.also}))  # by now the part may be known by another name as well
        if names == before.also:
            return lease
        told = before.model_copy(update={"also": names})
    ones = {**known, (told.policy, told.component): told}.values()
    newest = sorted(ones, key=lambda one: (one.at, one.policy, one.component), reverse=True)[:MOST_CANCELLED]
    return lease.model_copy(update={"cancelled": tuple(newest)})


def tell(lease: Lease, told: Told, over: timedelta) -> Lease:
    """Return the lease with *told* as the latest; of one sort and subject it keeps some of those before as well.

    A message that comes again as the next incident has begun is of one of these. Where there is no room, one of these
    goes, or else what was counted longest ago, if that is *over* by now. Where all go on *told* finds none: whatever
    went for it would be told anew next, and would find room by the next one's going, until nothing is joined any more.
    """
    others = [one for one in lease.told if one.incident != told.incident]
    alike = [one for one in others if one[:2] == told[:2]]
    kept = [one for one in others if one not in alike[: -MOST_OF_A_SORT + 1]]
    if len(kept) >= MOST_TOLD:
        oldest = min([one for one in kept if one in alike] or kept, key=lambda one: (one.at, one.incident))
        if oldest not in alike and told.at - oldest.at <= over:
            return lease
        kept.remove(oldest)
    return lease.model_copy(update={"told": (*kept, told)})


def tell_again(lease: Lease, incident: str, now: datetime, after: timedelta) -> Lease:
    """Return the lease with *incident* told *now*; the same while there is much room, or if it was so long before."""
    if len(lease.told) <= MOST_TOLD // 2:
        return lease
    told = tuple(
        one._replace(at=now) if one.incident == incident and now - one.at > after else one for one in lease.told
    )
    return lease if told == lease.told else lease.model_copy(update={"told": told})


def park(lease: Lease, now: datetime) -> Lease:
    """Return the lease as a parked incident keeps it, under the next fence: what still runs is told to stop."""
    return lease.model_copy(update={"fence": lease.fence + 1, "expires_at": add_seconds(now, PARKED_SECONDS)})


def release(lease: Lease, outcome: str, now: datetime) -> Lease:
    """Return the lease as it is left behind: what comes later for this generation is measured by it."""
    return lease.model_copy(update={"released": True, "outcome": outcome, "released_at": now})
