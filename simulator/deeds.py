"""What became of incidents, in a replay or in the past, and how two such accounts differ.

Decides which incidents of two accounts are the same matter: the same id, else the same node within half an hour. It
must not know which account is the truth.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum
from sys import intern
from typing import Any

from policies.contract.times import format_time
from policies.coordination.closing import BY_A_PERSON, closed_by
from policies.coordination.incident import Incident
from policies.coordination.notes import STAGE_OF
from policies.coordination.states import IncidentStatus

STILL_OPEN = "still open"
_RUNNING = frozenset(each.value for each in IncidentStatus if each.is_running)
_STATUS_AFTER = {
    "settled": IncidentStatus.ACTING,
    "resuming": IncidentStatus.RESUMING,
    "set_aside": IncidentStatus.ACTING,
}
_DONE = frozenset({*STAGE_OF.values(), "done"})
SAME_MATTER = timedelta(minutes=30)  # another policy's settle, a longer count: the fault is the same one


@dataclass(frozen=True)
class Act:
    """One rung that was carried out, and when it was done."""

    rung: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Deed:
    """One incident with what was done. ``acts`` is empty where nobody acted; ``ended_at`` is None while it is open."""

    incident: str
    finding: str
    cluster: str
    generation: str
    node: str
    instance: str
    instance_type: str
    job: str
    policy: str
    revision: int
    opened_at: datetime
    ended_at: datetime | None
    status: str
    outcome: str
    reason: str
    acts: tuple[Act, ...] = ()
    times: int = 1  # how often it was found, of one that nobody acted on
    world_size: int | None = None  # how many ranks its run had then

    @property
    def result(self) -> str:
        """How it ended, in words: two incidents with the same acts may still end otherwise."""
        return self.outcome or (STILL_OPEN if self.status in _RUNNING else self.status)

    def document(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        names = (each.name for each in fields(self))
        plain = {name: getattr(self, name) for name in names if name not in {"acts", "opened_at", "ended_at"}}
        return {
            **plain,
            "opened_at": format_time(self.opened_at),
            "ended_at": self.ended_at and format_time(self.ended_at),
            "acts": [{"rung": act.rung, "at": format_time(act.at)} for act in self.acts],
        }


def deed_of(incident: Incident, until: datetime | None = None) -> Deed:
    """Return what became of *incident*; of one of which nothing is known since *until*, how it stood then."""
    if until is not None:
        incident = _as_of(incident, until)
    over = incident.status is IncidentStatus.CLOSED
    return Deed(
        incident=incident.id,
        finding=incident.findings[0].id if incident.findings else "",
        cluster=intern(incident.cluster),  # the same few words, thousands of times
        generation=intern(incident.generation),
        node=intern(incident.node.name),
        instance=intern(incident.node.instance_id),
        instance_type=intern(incident.node.instance_type),
        job=intern(incident.job.id) if incident.job else "",
        policy=intern(incident.policy.name),
        revision=incident.policy.revision,
        opened_at=incident.opened_at,
        ended_at=next((each.at for each in reversed(incident.timeline) if each.stage == "closed"), incident.updated_at)
        if over
        else None,
        status=incident.status.value,
        outcome=BY_A_PERSON if closed_by(incident) else intern(incident.outcome),  # of before it was told apart, too
        reason=intern(incident.reason),
        acts=_acts(incident),
        times=max((note.times for note in incident.findings), default=1),
        world_size=incident.job.world_size if incident.job else None,
    )


def _as_of(incident: Incident, until: datetime) -> Incident:
    """Return *incident* without what it came to after *until*: what nobody knows yet is no end and no act."""
    ended = next((each.at for each in reversed(incident.timeline) if each.stage in {"parked", "closed"}), None)
    known = tuple(each for each in incident.timeline if each.at <= until)
    after = sum(each.stage in _DONE and each.at > until for each in incident.timeline)
    changes: dict[str, Any] = {"timeline": known, "done": incident.done[: len(incident.done) - after]}
    if not incident.status.is_running and ended is not None and ended >= until:
        statuses = [_STATUS_AFTER[each.stage] for each in known if each.stage in _STATUS_AFTER]
        status = statuses[-1] if statuses else IncidentStatus.SETTLING
        changes |= {"status": status, "outcome": "", "reason": ""}
    return incident.model_copy(update=changes)


def _acts(incident: Incident) -> tuple[Act, ...]:
    """Return what was done, each with the line of the timeline that says so."""
    left = [each for each in incident.timeline if each.stage in _DONE]
    acts: list[Act] = []
    for rung in incident.done:
        line = next((each for each in left if each.stage == STAGE_OF.get(rung, "done")), None)
        if line is not None:
            left.remove(line)
        acts.append(Act(rung.value, line.at if line else incident.updated_at))
    return tuple(acts)


class Difference(StrEnum):
    """How a matter differs between two accounts."""

    SAME = "same"
    NEW = "new"  # only after
    GONE = "gone"  # only before
    CHANGED = "changed"  # in both, with other acts, another policy or another end


@dataclass(frozen=True, slots=True)
class Matter:
    """One matter in both accounts."""

    before: Deed | None
    after: Deed | None

    @property
    def either(self) -> Deed:
        """One of the two, the later account's if it has it."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def difference(self) -> Difference:
        """How they differ."""
        if self.before is None or self.after is None:
            return Difference.NEW if self.before is None else Difference.GONE
        return Difference.SAME if _told(self.before) == _told(self.after) else Difference.CHANGED

    @property
    def acts(self) -> bool:
        """Whether anything is done in either."""
        return bool((self.before and self.before.acts) or (self.after and self.after.acts))

    @property
    def new_acts(self) -> tuple[str, ...]:
        """The rungs that are carried out after and were not before."""
        more = Counter(_rungs(self.after)) - Counter(_rungs(self.before))
        return tuple(more.elements())


def compare(before: Iterable[Deed], after: Iterable[Deed]) -> list[Matter]:
    """Return every matter of both accounts, in the order of time."""
    earlier = {deed.incident: deed for deed in before}
    later = {deed.incident: deed for deed in after}
    matters = [Matter(earlier[each], later[each]) for each in earlier.keys() & later.keys()]
    rest = [deed for name, deed in earlier.items() if name not in later]
    matters += _by_node(rest, [deed for name, deed in later.items() if name not in earlier])
    return sorted(matters, key=lambda each: (each.either.opened_at, each.either.incident))


def _by_node(before: Sequence[Deed], after: Sequence[Deed]) -> list[Matter]:
    waiting: dict[tuple[str, str], list[Deed]] = {}
    for deed in sorted(before, key=_by_time):
        waiting.setdefault((deed.cluster, deed.generation), []).append(deed)
    matters = []
    for deed in sorted(after, key=_by_time):
        mine = waiting.get((deed.cluster, deed.generation), [])
        near = [one for one in mine if abs(one.opened_at - deed.opened_at) <= SAME_MATTER]
        # Of several, the one that ends alike: what only recorded is no counterpart of what acts.
        found = min(near, key=lambda one: (bool(one.acts) != bool(deed.acts), one.policy != deed.policy), default=None)
        if found is not None:
            mine.remove(found)
        matters.append(Matter(found, deed))
    return [*matters, *(Matter(deed, None) for deeds in waiting.values() for deed in deeds)]


def _by_time(deed: Deed) -> tuple[datetime, str]:
    return deed.opened_at, deed.incident


def _told(deed: Deed) -> tuple[str, tuple[str, ...], str]:
    return deed.policy, _rungs(deed), deed.result


def _rungs(deed: Deed | None) -> tuple[str, ...]:
    return tuple(act.rung for act in deed.acts) if deed else ()
