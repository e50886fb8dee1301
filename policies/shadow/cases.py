"""What became of each thing that a policy in shadow would have acted on, as far as incidents tell.

Decides what is one case, who dealt with it, and whether the fault was real: a person's word, AWS's, somebody who acted,
or that it came back say so; that it went away by itself says that nothing had to be done. It must not read tables.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from policies.contract.decisions import PolicyPlan
from policies.contract.vocabulary import EvidenceRule
from policies.coordination.incident import Incident
from policies.coordination.judgements import of_hardware
from policies.precision.signs import AGAIN_WITHIN, AWS_SAYS, AWS_WITHIN
from policies.shadow.hits import RUNS, Hit, hits_in

EPISODE = timedelta(minutes=30)  # what is found of one node with less between is one case: one incident would have it


class Ending(StrEnum):
    """What is known of a case, the strongest first."""

    FAULTY = "faulty"  # a person said so
    HEALTHY = "healthy"  # a person said so
    AWS = "aws"  # AWS said of the instance that it is impaired, or retires it
    ANSWERED = "answered"  # another policy or a person acted on it
    AGAIN = "again"  # the same was found a day before, or again within a day
    OPEN = "open"  # a day is not over yet
    SILENT = "silent"  # a fault that is told of once: silence says nothing of it
    AWAY = "away"  # it went away by itself


REAL = frozenset({Ending.FAULTY, Ending.AWS, Ending.ANSWERED, Ending.AGAIN})
NEEDLESS = frozenset({Ending.HEALTHY, Ending.AWAY})


@dataclass(frozen=True)
class Beside:
    """What was done about the same node, or the same run, by whom, and when that began."""

    incident: str
    policy: str
    done: tuple[str, ...]
    at: datetime
    person: str = ""

    @property
    def told(self) -> str:
        """Return it as people read it."""
        who = f"{self.person} closed it" if self.person else self.policy
        return f"{who}: {' → '.join(self.done)}" if self.done else who


@dataclass(frozen=True)
class _Around:
    """Incidents by (cluster, instance) and by (cluster, run): a fleet of thousands has thousands a week."""

    instances: Mapping[tuple[str, str], Sequence[Incident]]
    runs: Mapping[tuple[str, str], Sequence[Incident]]

    @classmethod
    def of(cls, incidents: Iterable[Incident]) -> "_Around":
        instances, runs = dict[tuple[str, str], list[Incident]](), dict[tuple[str, str], list[Incident]]()
        for each in incidents:
            named = {each.node.instance_id, *(note.node for note in each.findings if note.node)}
            for name in named:
                instances.setdefault((each.cluster, name), []).append(each)
            if each.job:
                runs.setdefault((each.cluster, each.job.id), []).append(each)
        return cls(instances, runs)

    def near(self, case: "Case") -> list[Incident]:
        """Return the incidents that may be about the instance or the run of *case*, each once."""
        found = [*self.instances.get((case.cluster, case.instance), ())]
        if case.is_about_a_run and case.job:
            found += self.runs.get((case.cluster, case.job), ())
        return list({each.id: each for each in found}.values())


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
    around = _Around.of(incidents)
    found = [case for hits in groups.values() for case in _cases(hits, around, until)]
    mine = (case for case in found if since <= case.first < until)
    return sorted(mine, key=lambda case: (case.first, case.plan.name, case.instance))


def _cases(hits: Sequence[Hit], around: "_Around", until: datetime) -> Iterator[Case]:
    episodes = list(_episodes(sorted(hits, key=lambda hit: (hit.note.first_observed_at, hit.note.id))))
    for place, episode in enumerate(episodes):
        following = episodes[place + 1] if place + 1 < len(episodes) else None
        before = place > 0 and _follows(episodes[place - 1], episode)
        yield _case(episode, following, around, until, came_back=before)


def _episodes(hits: Iterable[Hit]) -> Iterator[list[Hit]]:
    episode: list[Hit] = []
    for hit in hits:
        if episode and hit.note.first_observed_at - max(each.last for each in episode) > EPISODE:
            yield episode
            episode = []
        episode.append(hit)
    if episode:
        yield episode


def _follows(before: Sequence[Hit], after: Sequence[Hit]) -> bool:
    return after[0].note.first_observed_at - max(hit.last for hit in before) <= AGAIN_WITHIN


def _case(
    episode: Sequence[Hit],
    after: Sequence[Hit] | None,
    around: "_Around",
    until: datetime,
    *,
    came_back: bool,
) -> Case:
    one, last = episode[0], max(hit.last for hit in episode)
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
        last=last,
        at=min(hit.at for hit in episode),
        ending=Ending.OPEN,
        times=sum(hit.note.times for hit in episode),
        world_size=next((each.world_size for each in jobs if each.world_size and each.id == job), None),
    )
    again = after is not None and _follows(episode, after)
    near = around.near(case)
    beside = tuple(_beside(case, near))
    ending = _ending(case, episode, near, beside, again=again or came_back, until=until)
    lost = beside[0].at if beside else max(hit.last for hit in after) if after and again else None
    return replace(case, ending=ending, beside=beside, lost_until=lost)


def _ending(
    case: Case,
    episode: Sequence[Hit],
    incidents: Sequence[Incident],
    beside: Sequence[Beside],
    *,
    again: bool,
    until: datetime,
) -> Ending:
    said = next(filter(None, (of_hardware(hit.incident.judgements) for hit in episode)), None)
    if said:
        return Ending.FAULTY if said.verdict == "faulty" else Ending.HEALTHY
    if any(_is_aws_word(case, each) for each in incidents):
        return Ending.AWS
    if beside:
        return Ending.ANSWERED
    if again:
        return Ending.AGAIN
    if until - case.last < AGAIN_WITHIN:
        return Ending.OPEN
    return Ending.SILENT if case.plan.evidence is EvidenceRule.LATCHED else Ending.AWAY


def _is_aws_word(case: Case, incident: Incident) -> bool:
    notes = (note for note in incident.findings if note.kind in AWS_SAYS and incident.cluster == case.cluster)
    return any(
        (note.node or incident.node.instance_id) == case.instance
        and case.first <= note.last_observed_at
        and note.observed_at - case.last <= AWS_WITHIN
        for note in notes
    )


def _beside(case: Case, incidents: Sequence[Incident]) -> Iterator[Beside]:
    """Yield what was done about the case by others, the first first."""
    found = (beside for incident in incidents if _is_near(case, incident) and (beside := _deed(incident)))
    yield from sorted(found, key=lambda each: (each.at, each.incident))


def _is_near(case: Case, incident: Incident) -> bool:
    same_run = case.is_about_a_run and case.job and incident.job and incident.job.id == case.job
    same = incident.node.instance_id == case.instance or same_run
    opened = incident.opened_at
    in_time = case.first - opened <= EPISODE and opened - case.last <= AGAIN_WITHIN
    return bool(same) and in_time and incident.cluster == case.cluster


def _deed(incident: Incident) -> Beside | None:
    person = next(
        (_person(entry.detail, incident.outcome) for entry in incident.timeline if entry.stage == "closed"), ""
    )
    done = tuple(rung.value for rung in incident.done)
    if not done and not person:
        return None
    began = next((entry.at for entry in incident.timeline if entry.stage == "settled"), None)
    ended = next((entry.at for entry in incident.timeline if entry.stage == "closed"), incident.updated_at)
    return Beside(incident.id, incident.policy.name, done, began or (ended if person else incident.opened_at), person)


def _person(detail: str, outcome: str) -> str:
    """Return who closed it, from the line that coordinate writes of that (policies/coordination/closing.py)."""
    said = detail.removeprefix(f"{outcome}: ")
    return said.removeprefix("by ").partition(":")[0] if said.startswith("by ") else ""
