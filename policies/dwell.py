"""How long a condition has held without a healthy observation in between, for one policy and component of one node.

Decides since when it holds. What is noted commutes: matches and healthy observations in any order give the same
answer, exactly so for up to sixteen conditions of one component; beyond that it is taken to hold for less, never for
more. It must not know policies, nor read a clock.

One condition is what one occurrence of a measured fault tells, or one printed line. It ends with a healthy observation
that names it, or names its kind. Another that began before it ended goes on with it: a change of reason resets nothing.
A boot ends what was seen before it, since nobody will tell its end.
"""

from collections.abc import Callable, Iterator
from math import inf
from typing import Any, NamedTuple

from pydantic_core import to_json

from policies.lasting import LONGEST_NAME

MOST_CONDITIONS = 16
MOST_HEALTHY = 16
LONGEST_BOOT = 36  # a UUID, as the kernel writes it
# As JSON, where a character has six bytes at most (an escape), a number seventeen, and a kind's word some thirty.
_CONDITION_BYTES = 6 * (LONGEST_NAME + LONGEST_BOOT) + 3 * 17 + 69  # with its kind, and what stands between
_HEALTHY_BYTES = 17 + 47  # moment, and kind
_OTHER_BYTES = 2 * 17 + 46  # revision and told, and what stands around all


class Condition(NamedTuple):
    """What began, in ms: ``first`` as the node says, ``last`` match; ``ended`` by its own name; 0 is not yet."""

    kind: str
    boot: str
    first: int = 0
    last: int = 0
    ended: int = 0

    def merged(self, other: "Condition") -> "Condition":
        """Return both as one; the order does not matter."""
        first = min((one.first for one in (self, other) if one.last), default=0)
        boot = max(self.boot, other.boot)
        return Condition(self.kind, boot, first, max(self.last, other.last), max(self.ended, other.ended))


class Seen(NamedTuple):
    """A match: when (ms), of which event, and the details that begin with both; of at most so many bytes as JSON."""

    moment: int
    event_id: str
    details: Callable[[], list[Any]]
    room: int


class Dwell:
    """The state of one policy and component. ``told`` is the beginning that was told."""

    def __init__(self, dumped: list[Any] | None = None) -> None:
        """Take what `dump` wrote."""
        revision, told, conditions, healthy, newest = dumped or (0, 0, {}, [], None)
        self.revision: int = revision
        self.told: int = told
        self._newest: list[Any] | None = newest
        self._seen: Seen | None = None  # a newer one, whose details nobody has asked for
        self._conditions = {name: Condition(*one) for name, one in conditions.items()}
        self._healthy = {(kind, moment) for kind, moment in healthy}

    def dump(self) -> list[Any]:
        """Return the JSON form, the same for the same content."""
        return [self.revision, self.told, dict(sorted(self._conditions.items())), sorted(self._healthy), self.newest]

    @property
    def newest(self) -> list[Any] | None:
        """The details of the newest match."""
        if self._seen is not None:
            self._newest, self._seen = self._seen.details(), None
        return self._newest

    @property
    def room(self) -> int:
        """How many bytes of JSON it has at most."""
        details = self._seen.room if self._seen else len(to_json(self._newest))
        return details + _CONDITION_BYTES * len(self._conditions) + _HEALTHY_BYTES * len(self._healthy) + _OTHER_BYTES

    def match(self, name: str, one: Condition, revision: int, seen: Seen) -> None:
        """Note that condition *name* is *seen*. Of the newest match details are kept, once somebody asks for them."""
        if revision != self.revision:  # an edited policy tells again
            self.revision, self.told = revision, 0
        known = self._conditions.get(name)
        self._conditions[name] = one if known is None else known.merged(one)
        if self._is_newer(seen.moment, seen.event_id):
            self._seen = seen

    def _is_newer(self, moment: int, event_id: str) -> bool:
        known = self._seen or self._newest
        return known is None or (moment, event_id) > (known[0], known[1])

    def heal(self, kind: str, moment: int, name: str | None, boot: str) -> None:
        """Note a healthy observation: of the condition *name*, or of all of *kind* where nobody says which."""
        if name is None:
            self._healthy.add((kind, moment))
        else:
            ended = Condition(kind, boot, ended=moment)
            known = self._conditions.get(name)
            self._conditions[name] = ended if known is None else known.merged(ended)

    def join(self, other: "Dwell") -> None:
        """Take in what is known of the same part by another name, whichever of the two was noted first."""
        revision, told, conditions, healthy, newest = other.dump()
        for name, one in conditions.items():
            known = self._conditions.get(name)
            self._conditions[name] = one if known is None else known.merged(one)
        self._healthy.update(healthy)
        self.revision, self.told = max((self.revision, self.told), (revision, told))
        if newest is not None and self._is_newer(newest[0], newest[1]):
            self._newest, self._seen = newest, None

    @property
    def event_ids(self) -> tuple[str, ...]:
        """The names of what holds still, from its beginning on."""
        holding = [
            (one.first, name)
            for name, one in self._of_this_boot().items()
            if one.last and any(ends == inf for _first, ends in self._pieces(one))
        ]
        return tuple(name for _first, name in sorted(holding))

    def holds_since(self) -> int | None:
        """Return the beginning (ms) of what holds still; None when nothing does."""
        if self._never_ended:
            return min((one.first for one in self._current()), default=None)
        since, until = 0.0, -inf
        for first, ends in sorted(piece for one in self._current() for piece in self._pieces(one)):
            if first > until:
                since, until = first, ends
            until = max(until, ends)
        return int(since) if until == inf else None

    def open_boots(self) -> set[str]:
        """Return the boots in which something holds still; "" is what is said of the node from elsewhere."""
        return {one.boot for one in self._current() for _first, ends in self._pieces(one) if ends == inf}

    def prune(self, oldest: int) -> int | None:
        """Drop what was over before *oldest* (ms), be it by another boot, and what is too much; return `holds_since`.

        What goes beyond the bound goes from the middle: what is left began later, or not at all.
        """
        self._forget_healthy(oldest)
        since = self.holds_since()
        self.told = 0 if since is None or self.told < since else self.told
        current = self._of_this_boot()
        if self._never_ended and current is self._conditions and len(current) <= MOST_CONDITIONS:
            return since  # all of it holds
        kept = {
            name: one
            for name, one in self._conditions.items()
            if _moment(one) >= oldest or (name in current and self._matters(one, since))
        }
        if len(kept) > MOST_CONDITIONS:
            half = MOST_CONDITIONS // 2
            names = sorted(kept, key=lambda name: (_moment(kept[name]), name))
            kept = {name: kept[name] for name in (*names[:half], *names[-half:])}
        self._conditions = kept
        return self.holds_since()

    def _matters(self, one: Condition, since: int | None) -> bool:
        """Whether *one* holds still, or was over only after what holds still had begun."""
        ends = max((ends for _first, ends in self._pieces(one)), default=0.0) if one.last else 0.0
        return ends == inf or (since is not None and ends >= since)

    def _forget_healthy(self, oldest: int) -> None:
        """Drop old ones, after what they ended is written down where it stands; the newest of each kind stays."""
        if not self._healthy:
            return
        newest = {kind: max(moment for other, moment in self._healthy if other == kind) for kind, _at in self._healthy}
        ordered = sorted(self._healthy, key=lambda one: (one[1], one[0]))
        surplus = {one for one in ordered[:-MOST_HEALTHY] if one[1] < newest[one[0]]}
        surplus |= {one for one in ordered if one[1] < min(oldest, newest[one[0]])}
        for kind, moment in ordered:
            if (kind, moment) in surplus:
                self._healthy.discard((kind, moment))
                self._conditions = {name: _baked(one, kind, moment) for name, one in self._conditions.items()}

    @property
    def moment(self) -> int:
        """The newest moment (ms) of anything noted."""
        noted = (moment for one in self._conditions.values() for moment in (one.last, one.ended))
        return max((*noted, *(moment for _kind, moment in self._healthy)), default=0)

    @property
    def _never_ended(self) -> bool:
        """Whether no end of anything was seen, as nearly always."""
        return not self._healthy and not sum([one.ended for one in self._conditions.values()])

    def _of_this_boot(self) -> dict[str, Condition]:
        if len({one.boot for one in self._conditions.values()}) == 1:
            return self._conditions
        dated = [(one.last, one.boot) for one in self._conditions.values() if one.boot and one.last]
        boot = max(dated)[1] if dated else ""
        return {name: one for name, one in self._conditions.items() if one.boot in {"", boot}}

    def _current(self) -> Iterator[Condition]:
        return (one for one in self._of_this_boot().values() if one.last)

    def _pieces(self, one: Condition) -> Iterator[tuple[float, float]]:
        """Yield when *one* held: what was seen before a healthy observation is another piece than what came after."""
        if not self._healthy and not one.ended:  # as nearly always
            yield one.first, inf
            return
        healthy = [moment for kind, moment in self._healthy if kind == one.kind]
        healthy += [one.ended] if one.ended else []
        between = [moment for moment in healthy if one.first <= moment < one.last]
        if between:
            yield one.first, min(between)
        yield (
            (one.last if between else one.first),
            min((moment for moment in healthy if moment >= one.last), default=inf),
        )


def _baked(one: Condition, kind: str, moment: int) -> Condition:
    if one.kind != kind or not one.last or one.first > moment:
        return one
    if one.last > moment:
        return one._replace(first=one.last)
    return one if one.ended else one._replace(ended=moment)


def _moment(one: Condition) -> int:
    return one.last or one.ended
