"""What is kept of the acts of one policy in one cluster: ``POLICY#<name>#record``, which coordinate writes.

Decides which fields an act and a ground have, how many are kept, and how two of them become one. The same acts and
grounds always give the same record, in whatever order and however often. It must not know incidents or findings.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from policies.contract.base import Model
from policies.contract.times import Moment

MOST_ACTS = 200  # 60 to 90 KiB; a policy acts six times an hour at most, unless it says otherwise
KEPT = timedelta(days=90)


class Grade(StrEnum):
    """Who or what tells whether hardware was faulty, the strongest first; each outranks all behind it."""

    PERSON = "person"
    AWS = "aws"
    CHECK = "check"  # the verification of the very same hardware
    RECURRENCE = "recurrence"  # the same policy finds the same again, after the act
    QUIET = "quiet"  # it does not, within a day after verified hardware took over


RANK = {grade: place for place, grade in enumerate(Grade)}


class Ground(Model):
    """One thing that is known of the hardware that was acted on. ``why`` is for people."""

    grade: Grade
    faulty: bool
    at: Moment
    why: str = ""
    by: str = ""  # the person


class Act(Model):
    """One incident that touched hardware.

    ``at`` is when it began to, ``changed_at`` when the hardware was last mended or replaced, ``verified_at`` when that
    was proven. ``grounds`` holds one a grade, the strongest first; silence is none, it follows from these moments.
    """

    incident: str
    at: Moment
    node: str
    generation: str
    replaced: bool = False
    successor: str = ""
    changed_at: Moment | None = None
    verified_at: Moment | None = None
    grounds: tuple[Ground, ...] = ()


class Record(Model):
    """The document: ``acts`` is oldest first."""

    cluster: str
    policy: str
    version: int = 1
    acts: tuple[Act, ...] = ()

    def act(self, incident: str) -> Act | None:
        """Return the act of *incident*, None when it is not kept."""
        return next((each for each in self.acts if each.incident == incident), None)


def record_key(policy: str) -> str:
    """Return where the record lies among the documents of its cluster."""
    return f"POLICY#{policy}#record"


def with_act(record: Record, act: Act, now: datetime) -> Record:
    """Return *record* with *act* as its incident tells it now; what others told of its hardware stays."""
    before = record.act(act.incident)
    heard = [each for each in before.grounds if each.grade in _OF_OTHERS] if before else []
    whole = act.model_copy(update={"grounds": merged((*act.grounds, *heard))})
    if before == whole:
        return record
    others = (each for each in record.acts if each.incident != act.incident)
    known = [each for each in (*others, whole) if now - each.at <= KEPT]
    kept = tuple(sorted(known, key=lambda each: (each.at, each.incident))[-MOST_ACTS:])
    return record if kept == record.acts else record.model_copy(update={"acts": kept})


def with_grounds(record: Record, heard: Iterable[tuple[str, Ground]]) -> Record:
    """Return *record* with what was *heard*: incident, ground. Of an act that is not kept nothing is kept."""
    told: dict[str, list[Ground]] = {}
    for incident, ground in heard:
        told.setdefault(incident, []).append(ground)
    acts = tuple(
        each.model_copy(update={"grounds": merged((*each.grounds, *told[each.incident]))})
        if each.incident in told
        else each
        for each in record.acts
    )
    return record if acts == record.acts else record.model_copy(update={"acts": acts})


def merged(grounds: Iterable[Ground]) -> tuple[Ground, ...]:
    """Return the earliest of each grade, the strongest grade first."""
    first: dict[Grade, Ground] = {}
    for each in sorted(grounds, key=lambda each: (each.at, not each.faulty, each.why)):
        first.setdefault(each.grade, each)
    return tuple(sorted(first.values(), key=lambda each: RANK[each.grade]))


_OF_OTHERS = frozenset({Grade.AWS, Grade.RECURRENCE})  # findings tell these, and no incident's own document must
