"""What became of each thing that a policy in shadow would have acted on, as far as incidents tell.

Decides what is one case, and whether its fault was real: a person's word, AWS's, an act that was not on sound hardware,
or that it came back say so; that it went away by itself says that nothing had to be done. That a person refused an act,
or closed an incident by hand, says neither. It must not read tables.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from policies.contract.decisions import PolicyPlan
from policies.contract.vocabulary import EvidenceRule
from policies.coordination.incident import Incident
from policies.precision.signs import AGAIN_WITHIN
from policies.shadow.beside import EPISODE, Around, Beside, Sought, aws_speaks, besides, word_on
from policies.shadow.hits import RUNS, Hit, hits_in


class Ending(StrEnum):
    """What is known of a case, the strongest first."""

    FAULTY = "faulty"  # a person said so, of it or of what answered it
    HEALTHY = "healthy"  # a person said so, of it or of what answered it
    AWS = "aws"  # AWS said of the instance that it is impaired, or retires it
    ANSWERED = "answered"  # another policy acted on it, on hardware of which nobody knows that it was sound
    SOUND = "sound"  # another policy acted on it, and the hardware turned out to be sound
    DENIED = "denied"  # a person refused that anything is done: that says nothing of the hardware
    AGAIN = "again"  # the same was found a day before, or again within a day
    CLOSED = "closed"  # a person closed its incident, and did not say how the hardware was
    OPEN = "open"  # a day is not over yet
    SILENT = "silent"  # a fault that is told of once, or something else was done there: silence says nothing of it
    AWAY = "away"  # it went away by itself


REAL = frozenset({Ending.FAULTY, Ending.AWS, Ending.ANSWERED, Ending.AGAIN})
NEEDLESS = frozenset({Ending.HEALTHY, Ending.SOUND, Ending.AWAY})
_SAYS_LITTLE = frozenset({Ending.HEALTHY, Ending.SOUND, Ending.DENIED})  # of one that comes before or behind


@dataclass(frozen=True)
class Case:
    """One fault of one node, or run, as one policy saw it. ``would`` is what it would have done at ``at``."""

    plan: PolicyPlan
    incident: str
    cluster: str
    node: str
    instance: str
    instance_type: str
    job: str
    kinds: tuple[str, ...]
    first: datetime
    last: datetime
    at: datetime
    ending: Ending
    times: int = 1  # how often it was found
    beside: tuple[Beside, ...] = ()
    lost_until: datetime | None = None
    world_size: int | None = None  # how many ranks the run had

    @property
    def is_about_a_run(self) -> bool:
        """Whether all that it would have done is done to a run."""
        return set(self.plan.do) <= RUNS


def cases_of(
    incidents: Sequence[Incident], shadow: Mapping[str, PolicyPlan], since: datetime, until: datetime
) -> list[Case]:
    """Return the cases that began from *since* until before *until*, oldest first.

    *incidents* are all that changed since *since*, as they stood at *until*: of what came later nothing is known.
    """
    groups: dict[tuple[str, str, str], list[Hit]] = {}
    for hit in hits_in(incidents, shadow):
        subject = hit.incident.job.id if set(hit.plan.do) <= RUNS and hit.incident.job else hit.instance
        groups.setdefault((hit.incident.cluster, hit.plan.name, subject), []).append(hit)
    around = Around.of(incidents)
    found = [case for hits in groups.values() for case in _cases(hits, around, until)]
    mine = (case for case in found if since <= case.first < until)
    return sorted(mine, key=lambda case: (case.first, case.plan.name, case.instance))


def _cases(hits: Sequence[Hit], around: Around, until: datetime) -> Iterator[Case]:
    episodes = _episodes(sorted(hits, key=lambda hit: (hit.note.first_observed_at, hit.note.id)))
    told = [_told(episode, around, until) for episode in episodes]
    for place, (case, ending) in enumerate(told):
        before = place > 0 and _comes_again(told[place - 1], case)
        following = told[place + 1] if place + 1 < len(told) else None
        after = following is not None and _follows(case, following[0])
        counts = following is not None and after and following[1] not in _SAYS_LITTLE
        lost = next((each.at for each in case.beside if not each.denied), None)
        yield replace(
            case,
            ending=ending or _silence(case, until, again=before or counts),
            lost_until=lost or (following[0].last if following and counts else None),
        )


def _episodes(hits: Iterable[Hit]) -> Iterator[list[Hit]]:
    episode: list[Hit] = []
    for hit in hits:
        if episode and hit.note.first_observed_at - max(each.last for each in episode) > EPISODE:
            yield episode
            episode = []
        episode.append(hit)
    if episode:
        yield episode


def _follows(before: Case, after: Case) -> bool:
    return after.first - before.last <= AGAIN_WITHIN


def _comes_again(before: tuple[Case, Ending | None], case: Case) -> bool:
    """Whether *case* is what was found *before* once more; what was sound, or refused then, proves nothing of it."""
    return before[1] not in _SAYS_LITTLE and _follows(before[0], case)


def _told(episode: Sequence[Hit], around: Around, until: datetime) -> tuple[Case, Ending | None]:
    """Return the case, and its ending where others say what that is."""
    one = episode[0]
    jobs = [hit.incident.job for hit in episode if hit.incident.job]
    job = jobs[0].id if jobs else ""
    case = Case(
        plan=one.plan,
        incident=one.incident.id,
        cluster=one.incident.cluster,
        node=one.incident.node.name,
        instance=one.instance,
        instance_type=one.incident.node.instance_type,
        job=job,
        kinds=tuple(sorted({hit.note.kind.value for hit in episode})),
        first=min(hit.note.first_observed_at for hit in episode),
        last=max(hit.last for hit in episode),
        at=min(hit.at for hit in episode),
        ending=Ending.OPEN,
        times=sum(hit.note.times for hit in episode),
        world_size=next((each.world_size for each in jobs if each.world_size and each.id == job), None),
    )
    run = job if case.is_about_a_run else ""
    sought = Sought(case.cluster, case.instance, run, case.first, case.last, episode)
    case = replace(case, beside=tuple(besides(sought, around, until)))
    return case, _said(sought, around, case)


def _said(sought: Sought, around: Around, case: Case) -> Ending | None:
    """Return what persons, AWS or acts say of it, the strongest first; None where nobody says anything."""
    word = word_on(sought, around)
    if word:
        return Ending.FAULTY if word.verdict == "faulty" else Ending.HEALTHY
    if aws_speaks(sought, around):
        return Ending.AWS
    mine = [each for each in case.beside if each.same]
    known = {each.faulty for each in mine}
    if True in known:
        return Ending.ANSWERED
    if False in known:
        return Ending.SOUND
    if any(each.done and not each.person for each in case.beside if each.same or each.of_run):
        return Ending.ANSWERED
    return Ending.DENIED if any(each.denied for each in mine) else None


def _silence(case: Case, until: datetime, *, again: bool) -> Ending:
    """Return what it means that nobody says anything of *case*."""
    if again:
        return Ending.AGAIN
    if any(each.person for each in case.beside if each.same):
        return Ending.CLOSED
    if until - case.last < AGAIN_WITHIN:
        return Ending.OPEN
    return Ending.SILENT if case.plan.evidence is EvidenceRule.LATCHED or case.beside else Ending.AWAY
