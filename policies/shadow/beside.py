"""What others did and said about a fault that a policy in shadow found: the incidents beside it, and what they tell.

Decides which incidents are near, which of them are about the same fault, and what each tells of the hardware: a
person's word, or what is known of the act. That a person refused an act, or closed an incident by hand, tells nothing
of it. It must not decide how a case ends.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from policies.contract.parts import is_same_part
from policies.contract.vocabulary import ComponentType
from policies.coordination.closing import closed_by
from policies.coordination.denials import standing
from policies.coordination.denying import DENIED
from policies.coordination.incident import Incident
from policies.coordination.judgements import Judgement, of_hardware
from policies.coordination.notes import FindingNote
from policies.precision.acts import act_of
from policies.precision.record import merged
from policies.precision.signs import AGAIN_WITHIN, AWS_SAYS, AWS_WITHIN, Sign, grounds_of
from policies.precision.verdicts import verdict_of
from policies.shadow.hits import Hit

EPISODE = timedelta(minutes=30)  # what is found of one node with less between is one case: one incident would have it
# Of these a node has several, and each is another piece of hardware; processes, mounts and ranks come and go.
_PIECES = frozenset({
    ComponentType.GPU,
    ComponentType.NVSWITCH,
    ComponentType.NVLINK,
    ComponentType.PCIE,
    ComponentType.CPU,
    ComponentType.DIMM,
    ComponentType.NIC,
    ComponentType.DISK,
})  # fmt: skip


@dataclass(frozen=True)
class Beside:
    """What was done about the same node, or the same run, by whom, and when that began.

    ``person`` closed it, or refused it (``denied``). ``same``: it is about the same fault; ``of_run``: it is about the
    run of a fault that is one of the run alone. ``faulty``: whether the hardware that was touched was, None where
    nobody knows.
    """

    incident: str
    policy: str
    done: tuple[str, ...]
    at: datetime
    person: str = ""
    denied: bool = False
    same: bool = True
    of_run: bool = False
    faulty: bool | None = None

    @property
    def told(self) -> str:
        """Return it as people read it."""
        who = f"{self.person} {'denied' if self.denied else 'closed'} it" if self.person else self.policy
        return f"{who}: {' → '.join(self.done)}" if self.done else who


@dataclass(frozen=True)
class Sought:
    """A fault that others may have answered: found on *instance*, or about the run of that name alone, in *hits*."""

    cluster: str
    instance: str
    run: str
    first: datetime
    last: datetime
    hits: Sequence[Hit]


@dataclass(frozen=True)
class Around:
    """Incidents by (cluster, instance) and by (cluster, run): a fleet of thousands has thousands a week."""

    instances: Mapping[tuple[str, str], Sequence[Incident]]
    runs: Mapping[tuple[str, str], Sequence[Incident]]

    @classmethod
    def of(cls, incidents: Iterable[Incident]) -> "Around":
        """Return *incidents* so that those of one node or run are found at once."""
        instances, runs = dict[tuple[str, str], list[Incident]](), dict[tuple[str, str], list[Incident]]()
        for each in incidents:
            named = {each.node.instance_id, *(note.node for note in each.findings if note.node)}
            for name in named:
                instances.setdefault((each.cluster, name), []).append(each)
            if each.job:
                runs.setdefault((each.cluster, each.job.id), []).append(each)
        return cls(instances, runs)

    def near(self, sought: Sought) -> list[Incident]:
        """Return the incidents that may be about the instance or the run of *sought*, each once."""
        found = [*self.instances.get((sought.cluster, sought.instance), ())]
        if sought.run:
            found += self.runs.get((sought.cluster, sought.run), ())
        return list({each.id: each for each in found}.values())

    def faulty(self, incident: Incident, until: datetime) -> bool | None:
        """Return whether the hardware that *incident* touched was faulty, by the rules of measured precision."""
        act = act_of(incident)
        if act is None:
            return None
        others = (one for name in (act.node, act.successor) for one in self.instances.get((incident.cluster, name), ()))
        signs = (
            Sign.noted(note, other.node.instance_id, other.generation) for other in others for note in other.findings
        )
        heard = (ground for sign in signs for ground in grounds_of(act, incident.policy.name, sign))
        known = verdict_of(act.model_copy(update={"grounds": merged((*act.grounds, *heard))}), until)
        return known.faulty if known else None


def besides(sought: Sought, around: Around, until: datetime) -> Iterator[Beside]:
    """Yield what was done about *sought* by others, the first first."""
    near = (each for each in around.near(sought) if _is_near(sought, each))
    found = (beside for incident in near if (beside := _deed(sought, incident, around, until)))
    yield from sorted(found, key=lambda each: (each.at, each.incident))


def word_on(sought: Sought, around: Around) -> Judgement | None:
    """Return what a person said of the hardware: of an incident of its own, else of the nearest one of the same fault.

    Of several of its own the word that was said last counts.
    """
    own = filter(None, (of_hardware(hit.incident.judgements) for hit in sought.hits))
    said = max(own, key=lambda each: each.at, default=None)
    if said:
        return said
    near = (each for each in around.near(sought) if _is_near(sought, each) and is_same_fault(sought, each))
    heard = ((each, word) for each in near if (word := of_hardware(each.judgements)))
    nearest = min(heard, key=lambda one: (abs(one[0].opened_at - sought.first), one[0].id), default=None)
    return nearest[1] if nearest else None


def aws_speaks(sought: Sought, around: Around) -> bool:
    """Whether AWS said within the week that the instance is impaired, or retires it."""
    return any(_is_aws_word(sought, each) for each in around.near(sought))


def is_same_fault(sought: Sought, incident: Incident) -> bool:
    """Whether *incident* is about it: it is noted there, or the same part or kind is.

    What else is done about its run, on sound hardware or not, says nothing of whether the run stood still.
    """
    if any(hit.incident.id == incident.id for hit in sought.hits):
        return True
    here = [each for each in incident.findings if (each.node or incident.node.instance_id) == sought.instance]
    return any(_is_alike(hit.note, note) for hit in sought.hits for note in here)


def _is_alike(one: FindingNote, other: FindingNote) -> bool:
    if all(note.component.partition(":")[0] in _PIECES for note in (one, other)):
        return is_same_part(one.component, other.component) or is_same_part(other.component, one.component)
    return one.kind is other.kind


def _is_aws_word(sought: Sought, incident: Incident) -> bool:
    notes = (note for note in incident.findings if note.kind in AWS_SAYS and incident.cluster == sought.cluster)
    return any(
        (note.node or incident.node.instance_id) == sought.instance
        and sought.first <= note.last_observed_at
        and note.observed_at - sought.last <= AWS_WITHIN
        for note in notes
    )


def _is_near(sought: Sought, incident: Incident) -> bool:
    """Whether *incident* may answer it: opened shortly before, or within a day after; a no does while it holds."""
    same = incident.node.instance_id == sought.instance or _is_of_run(sought, incident)
    opened = incident.opened_at
    holds = max(opened, standing(incident.denials).until) if incident.denials else opened
    in_time = sought.first - holds <= EPISODE and opened - sought.last <= AGAIN_WITHIN
    return same and in_time and incident.cluster == sought.cluster


def _is_of_run(sought: Sought, incident: Incident) -> bool:
    return bool(sought.run) and incident.job is not None and incident.job.id == sought.run


def _deed(sought: Sought, incident: Incident, around: Around, until: datetime) -> Beside | None:
    denied = _denied_by(incident)
    person = denied or closed_by(incident)
    done = tuple(rung.value for rung in incident.done)
    if not done and not person:
        return None
    began = next((entry.at for entry in incident.timeline if entry.stage == "settled"), None)
    ended = next((entry.at for entry in incident.timeline if entry.stage == "closed"), incident.updated_at)
    return Beside(
        incident.id,
        incident.policy.name,
        done,
        began or (ended if person else incident.opened_at),
        person,
        denied=bool(denied),
        same=is_same_fault(sought, incident),
        of_run=_is_of_run(sought, incident),
        faulty=around.faulty(incident, until),
    )


def _denied_by(incident: Incident) -> str:
    """Return who refused it, by its denials or, of before these were kept, by the line that it closed with."""
    if incident.outcome != DENIED:
        return ""
    if incident.denials:
        return incident.denials[-1].by
    closed = next((entry.detail for entry in incident.timeline if entry.stage == "closed"), "")
    return closed.removeprefix(f"{DENIED}: by ").partition(": ")[0] or "a person"
