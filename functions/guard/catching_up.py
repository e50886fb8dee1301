"""Finds edits that the stream never told of, or told too late: what stands on the table and was not judged.

A stream keeps a change for a day and the mapping gives one up after twelve hours, so an edit may be lost to both while
the guard is off; a shard that is stuck holds back whatever comes behind. Decides which policies are looked at, and in
which order; over a day it is each of them, so that what was changed by hand meanwhile is found as well. It must not
judge: the guard does, as ever, and where all is as it should be it writes nothing into the table of policies.

What was ever accepted is in the listing, one read, and its items come a hundred a call. Only what never was has to be
scanned for, past every revision ever kept: that has half the time, and begins elsewhere each time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from functions.ports.policies import Heading, PolicyStore
from functions.ports.triage import Telemetry
from policies.contract.errors import DependencyError
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING
from policies.documents import fingerprint

TURNS = 96  # a day has so many quarters of an hour, which is how often this comes (`infra/stack.py`)
LONGEST = timedelta(seconds=20)  # of the thirty that the guard has; the next time begins with what matters most again
READ = timedelta(seconds=7)  # of these are spent on reading what is listed, and as many on the scan, if need be
CHUNK = 100  # names; as many items as one call brings
PARTS = 24  # in which the table is scanned; where it begins goes round, so that what was cut is first another time


def catch_up(
    store: PolicyStore, look_at: Callable[[str], bool], telemetry: Telemetry, clock: Callable[[], datetime]
) -> None:
    """Have every policy looked at whose item and what is in force do not agree, deleted items first.

    *look_at* returns whether anything had to be written. One that the table refuses keeps none behind it from being
    judged; its DependencyError comes at the end.
    """
    began = clock()
    looks = _Looks(look_at, clock, began + LONGEST)
    listed = {heading.name: heading for heading in store.headings() or _list_anew(store, telemetry)}
    known = list(dict.fromkeys([EVERYTHING, *_from_turn(sorted(listed), began)]))
    states, gone = dict[str, str](), list[str]()
    for start in range(0, len(known), CHUNK):
        names = known[start : start + CHUNK]
        states.update(_states(store, names, listed))
        gone += [name for name in names if name not in states]
        if clock() >= began + READ:
            looks.leave(known[start + CHUNK :])
            break
    deleted = [name for name in gone if name in listed and listed[name].mode is not PolicyMode.OFF]
    turn = [name for name in sorted(listed) if _turn_of(name) == _turn_at(began)]
    looks.at([*sorted(deleted), *_named(states, "missed"), *(name for name in states if name == EVERYTHING), *turn])
    answered = _named(states, "answered") + _scan(store, set(known), looks, began)
    looks.at(_from_turn(answered, began))  # a verdict may be pasted
    if looks.changed:
        telemetry.count("PoliciesCaughtUp", len(looks.changed))
        told = "the look by the clock judged or mended policies; more than one: the stream is behind"
        telemetry.warn(told, policies=", ".join(looks.changed[:10]))
    # Told where it is none, too: what lasts for hours shows only where each look says how it went.
    telemetry.count("PoliciesNotLookedAt", looks.not_done)
    if looks.cut:
        left = ", ".join(sorted(looks.left)[:10])
        telemetry.warn("not all policies could be looked at; the rest follows the next time", policies=left)
    if looks.failed:
        raise looks.failed


@dataclass
class _Looks:
    """The looks so far: what they ``changed``, whether time ``cut`` any, and the first that ``failed``.

    ``left`` are the names that time was not found for; ``blind``: the scan came to no end even of its first part, so
    that what lies in it may never be found.
    """

    look_at: Callable[[str], bool]
    clock: Callable[[], datetime]
    until: datetime
    changed: list[str] = field(default_factory=list)
    cut: bool = False
    blind: bool = False
    left: set[str] = field(default_factory=set)
    failed: DependencyError | None = None
    _done: set[str] = field(default_factory=set)

    @property
    def not_done(self) -> int:
        """Return how many policies were left; those that no part of a scan brought are one, whoever they are."""
        return len(self.left) + self.blind

    def leave(self, names: Iterable[str]) -> None:
        self.left.update(name for name in names if name not in self._done)
        self.cut = self.cut or bool(self.left)

    def at(self, names: Sequence[str]) -> None:
        for place, name in enumerate(names):
            if name in self._done:
                continue
            if self.clock() >= self.until:
                self.leave(names[place:])
                return
            self._done.add(name)
            self.left.discard(name)
            try:
                if self.look_at(name):
                    self.changed.append(name)
            except DependencyError as error:
                self.failed = self.failed or error


def _list_anew(store: PolicyStore, telemetry: Telemetry) -> Sequence[Heading]:
    """Return the listing, made anew of all heads; none where nothing was ever accepted."""
    listed = store.list_anew()
    if listed:
        telemetry.count("PoliciesMended", len(listed))
        telemetry.warn("the listing of policies was gone and is made anew", policies=len(listed))
    return listed


def _scan(store: PolicyStore, known: set[str], looks: _Looks, began: datetime) -> list[str]:
    """Have what was never accepted and nobody answered looked at as it is found; return what was answered."""
    answered, scanned, since = list[str](), timedelta(0), looks.clock()
    for part in range(PARTS):
        for found in _never_accepted(store, known, (_turn_at(began) + part) % PARTS):
            scanned += looks.clock() - since
            looks.at(_named(found, "missed"))
            answered += _named(found, "answered")
            since = looks.clock()
            if scanned >= READ or since >= looks.until:
                looks.cut, looks.blind = True, part == 0
                return answered
    return answered


def _from_turn(names: Sequence[str], now: datetime) -> list[str]:
    """Return *names* from another one on each time, so that what is cut now comes first once."""
    first = len(names) * _turn_at(now) // TURNS
    return [*names[first:], *names[:first]]


def _turn_of(name: str) -> int:
    return int(stable_id("turn", name), 16) % TURNS


def _turn_at(now: datetime) -> int:
    return (now.hour * 60 + now.minute) * TURNS // (24 * 60)


def _named(states: Mapping[str, str], state: str) -> list[str]:
    return sorted(name for name, each in states.items() if each == state)


def _never_accepted(store: PolicyStore, known: set[str], part: int) -> Iterator[Mapping[str, str]]:
    """Yield the states of items of *part* that are not *known*, some at a time, or none."""
    for names in store.names_in(part, PARTS):
        new = [name for name in names if name not in known]
        known.update(new)
        yield dict(_states(store, new, {}))


def _states(store: PolicyStore, names: Sequence[str], listed: Mapping[str, Heading]) -> Iterator[tuple[str, str]]:
    """Yield the state of what there is of the items *names*: missed, since nobody answered it; answered; settled.

    Answered is what was refused, and the switch: in the listing is nothing that would agree with it.
    """
    for live in store.lives(names) if names else ():
        yield str(live["name"]), _state(store, live, listed.get(str(live["name"])))


def _state(store: PolicyStore, live: Mapping[str, Any], heading: Heading | None) -> str:
    if heading and not heading.is_readable:
        return "missed"
    verdict = store.verdict(live)
    if verdict is None:
        return "missed"
    if verdict.get("status") != "accepted" or live["name"] == EVERYTHING:
        return "answered"
    return "settled" if heading and heading.hash == fingerprint(live) else "missed"
