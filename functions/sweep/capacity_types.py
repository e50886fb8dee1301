"""Whose place something can take: what was answered of a cluster, narrowed to what a node of one type could get. Pure.

Decides by group, since it is a node's group that launches what takes its place. What a group launches, its policy, its
instances, its warm ones and its refused launch tell. Types of one group stand in for each other: that is what it has
several for. A group of which nobody knows what it launches may launch each. It must not add anything up.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from functions.ports.capacity import Refusal, Reservation, Room

# A document is read with each batch of events that a policy asks it for. One type takes 0.4 KiB at most, since what is
# told of a refusal ends at 200 characters; a policy of mixed instances names up to 40 types (Auto Scaling quotas), of
# which a cluster has instances of few: those go first.
MOST_TYPES = 24


@dataclass(frozen=True)
class Answers:
    """What was found out, None where nobody answered; ``unknown`` says why, by field of the document.

    ``warm`` is by group, of which one alone may have given no answer, and type; ``refusals`` by group, without those;
    ``reservations`` are the cluster's own.
    """

    rooms: Sequence[Room] | None = None
    warm: Mapping[str, Mapping[str, int] | None] | None = None
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    reservations: Sequence[Reservation] | None = None
    unknown: dict[str, str] = field(default_factory=dict)


def kinds_of(answers: Answers) -> Sequence[str]:
    """Return the instance types that a group is known to launch, at most `MOST_TYPES`, those with instances first."""
    there = Counter[str]()
    for room in answers.rooms or ():
        there.update(dict.fromkeys(_types(answers, room), 0) | dict(room.types))
        there.update(_warm(answers, room))
    there.pop("", None)
    return sorted(there, key=lambda kind: (-there[kind], kind))[:MOST_TYPES]


def narrowed(answers: Answers, kind: str) -> Answers:
    """Return what of *answers* could take the place of a node of the type *kind*, or might, for all that is known."""
    sure = {each.name: each for each in answers.rooms or () if kind in _types(answers, each)}
    maybe = {*sure, *(each.name for each in answers.rooms or () if _is_open(answers, each))}
    refusals = {name: each for name, each in answers.refusals.items() if name in maybe}
    return replace(
        answers,
        rooms=None if answers.rooms is None else [each for each in answers.rooms if each.name in maybe],
        warm=None if answers.warm is None else {name: each for name, each in answers.warm.items() if name in maybe},
        refusals={name: each for name, each in refusals.items() if name in sure or not each.instance_type},
        reservations=_reservations(answers, list(sure.values())),
    )


def _reservations(answers: Answers, rooms: Sequence[Room]) -> Sequence[Reservation] | None:
    """Return those that something which one of *rooms* launches would run in."""
    if answers.reservations is None or any(room.others for room in rooms):
        return answers.reservations
    fit = {"", *(kind for room in rooms for kind in _types(answers, room))}
    return [each for each in answers.reservations if each.instance_type in fit]


def _types(answers: Answers, room: Room) -> Collection[str]:
    refusal = answers.refusals.get(room.name)
    return {*room.types, *_warm(answers, room), refusal.instance_type if refusal else ""} - {""}


def _warm(answers: Answers, room: Room) -> Mapping[str, int]:
    return (answers.warm or {}).get(room.name) or {}


def _is_open(answers: Answers, room: Room) -> bool:
    """Whether *room* may launch what nobody tells of it."""
    return room.others or not _types(answers, room)
