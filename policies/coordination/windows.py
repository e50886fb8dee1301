"""What one policy has counted in one scope wider than a node: a document of coordinate's.

Decides when a count is fulfilled, by the very code that counts on a node. Contributions commute and each counts once,
also when it comes again: their names are kept for as long as they matter. What is kept is bounded: beyond it the oldest
goes, and what is older than that counts no more, so that nothing counts twice. It must not know leases or incidents.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from policies.alike import MOST_VALUES
from policies.contract.base import Model
from policies.contract.decisions import Contribution, Contributions, WideRule
from policies.lasting import Lasting
from policies.measures import LATENESS_MS, Fulfilled, Measure
from policies.windows import Counter

MOST_POINTS = 256  # about 24 KiB of an item's 400
MOST_TAKEN = 1024  # names of contributions, about 30 KiB
MOST_TELLERS = 64
ALIKE_POINTS = 64  # of each of `MOST_VALUES` values: 16 times 6 KiB, and as much again for who told of it
NAME_LENGTH = 12  # hex digits: among 1,024 names two are alike once in 500 million windows


Tellers = dict[str, tuple[str, int]]  # instance id -> (name, newest moment)


class Alike(Model):
    """What agrees in one value of `count.same`: its counter, who told of it, when last."""

    counter: list[Any]
    tellers: Tellers = {}
    newest: int = 0


class Window(Model):
    """The document. ``key`` is policy and scope; ``rule`` the newest revision heard of.

    ``counter`` is what `Counter.dump` gives; ``taken`` name -> moment of what is counted; ``floor`` the newest moment
    of a name that was let go for want of room. ``alike`` is value -> what agrees in it, of a rule that asks for that:
    then ``counter`` and ``tellers`` are not used. Moments are in ms.
    """

    cluster: str
    key: str
    rule: WideRule
    counter: list[Any]
    taken: dict[str, int] = {}
    floor: int = 0
    tellers: Tellers = {}
    alike: dict[str, Alike] = {}
    newest: int = 0
    version: int = 1


@dataclass(frozen=True)
class Found:
    """A count that came true, of what agrees in ``value``, with the ``newest`` that was new and all its tellers."""

    window: Fulfilled
    newest: Contribution
    tellers: Tellers
    value: str = ""


@dataclass(frozen=True)
class Counted:
    """What a group of contributions came to, and what it ``found``. ``repeated``: some of it was counted before."""

    window: Window
    found: tuple[Found, ...] = ()
    repeated: bool = False


def window_key(policy: str, scope: str) -> str:
    """Return the name of a window within its cluster."""
    return f"{policy}|{scope}"


def count(window: Window | None, group: Contributions, cluster: str) -> Counted:
    """Return what *window* (None: nothing was counted yet) becomes with *group*."""
    window = window or _fresh(group, cluster)
    rule = max(window.rule, group.rule, key=lambda one: one.plan.revision)
    measure = measure_of(rule)
    reach = measure.within + measure.cooling + LATENESS_MS
    newest = max([window.newest, *(entry.moment_ms for entry in group.entries)])
    oldest = max(newest - reach, window.floor + 1)
    told = {_name(entry): entry for entry in group.entries}
    fresh = [one for name, one in told.items() if one.moment_ms >= oldest and name not in window.taken]
    taken, floor = _bounded({**window.taken, **{_name(one): one.moment_ms for one in fresh}}, newest - reach)
    after = window.model_copy(
        update={"rule": rule, "taken": taken, "floor": max(window.floor, floor), "newest": newest}
    )
    after, found = _count_alike(after, fresh, reach) if rule.same else _count_all(after, fresh, reach)
    return Counted(after, tuple(found), any(_name(one) in window.taken for one in group.entries))


def _count_all(window: Window, fresh: Sequence[Contribution], reach: int) -> tuple[Window, list[Found]]:
    whole = Alike(counter=window.counter, tellers=window.tellers, newest=window.newest)
    whole, found = _add_to(whole, window.rule, fresh, window.newest - reach, MOST_POINTS)
    return window.model_copy(update={"counter": whole.counter, "tellers": whole.tellers, "alike": {}}), found


def _count_alike(window: Window, fresh: Sequence[Contribution], reach: int) -> tuple[Window, list[Found]]:
    """Count each value by itself; what was sent under a revision that asked for none agrees with nothing."""
    alike, found = dict(window.alike), list[Found]()
    for value in sorted({entry.same for entry in fresh} - {""}):
        mine = [entry for entry in fresh if entry.same == value]
        known = alike.get(value) or Alike(counter=Counter(window.rule.plan.revision).dump())
        alike[value], new = _add_to(known, window.rule, mine, window.newest - reach, ALIKE_POINTS)
        found += [replace(one, value=value) for one in new]
    recent = [(one.newest, value) for value, one in alike.items() if one.newest >= window.newest - reach]
    kept = {value: alike[value] for _newest, value in sorted(recent)[-MOST_VALUES:]}
    return window.model_copy(update={"alike": kept}), found


def _add_to(
    known: Alike, rule: WideRule, fresh: Sequence[Contribution], oldest: int, most: int
) -> tuple[Alike, list[Found]]:
    tellers = _tellers(known.tellers, fresh, oldest)
    if not fresh:
        return known.model_copy(update={"tellers": tellers}), []
    counter, measure = Counter.load(known.counter), measure_of(rule)
    for entry in fresh:
        _add(counter, measure, entry)
    fulfilled = counter.fulfilled(measure, rule.plan.revision)
    last = max(fresh, key=lambda one: (one.moment_ms, one.id))
    newest = max(known.newest, last.moment_ms)
    after = Alike(counter=_dumped(counter, most), tellers=tellers, newest=newest)
    return after, [Found(window, last, tellers) for window in fulfilled]


def measure_of(rule: WideRule) -> Measure:
    """Return how *rule* counts."""
    return Measure(
        at_least=rule.at_least,
        within=rule.within_ms,
        occurrence=rule.occurrence_ms,
        distinct=rule.distinct,
        kept=MOST_POINTS,
        lasting=MOST_POINTS,
    )


def _fresh(group: Contributions, cluster: str) -> Window:
    key = window_key(group.rule.plan.name, group.scope)
    return Window(cluster=cluster, key=key, rule=group.rule, counter=Counter(group.rule.plan.revision).dump())


def _add(counter: Counter, measure: Measure, entry: Contribution) -> None:
    if entry.occurrence is None:
        counter.add(measure, entry.moment_ms, entry.count, entry.event_id, entry.distinct)
    else:
        moment = entry.moment_ms
        counter.repeat(Lasting(entry.occurrence, moment, moment, entry.since_ms, entry.distinct))


def _name(entry: Contribution) -> str:
    return entry.id[:NAME_LENGTH]


def _dumped(counter: Counter, most: int) -> list[Any]:
    """Return the counter's JSON form with no more points than there is room for: a whole second may be one moment."""
    revision, points, *rest = counter.dump()
    return [revision, [list(point) for point in points[-most:]], *(_plain(each) for each in rest)]


def _plain(part: list[Any]) -> list[Any]:
    return [list(one) if isinstance(one, tuple) else one for one in part]


def _bounded(taken: dict[str, int], oldest: int) -> tuple[dict[str, int], int]:
    """Return the names to keep, and the newest moment of those that were let go although they might matter."""
    recent = sorted((moment, name) for name, moment in taken.items() if moment >= oldest)
    surplus = recent[:-MOST_TAKEN]
    floor = surplus[-1][0] if surplus else 0
    return {name: moment for moment, name in recent if moment > floor}, floor


def _tellers(known: Tellers, fresh: Iterable[Contribution], oldest: int) -> Tellers:
    told = dict(known)
    for entry in fresh:
        name, moment = entry.node.name, entry.moment_ms
        before = told.get(entry.node.instance_id)
        if before is None or (moment, name) > (before[1], before[0]):
            told[entry.node.instance_id] = (name, moment)
    recent = sorted((moment, instance) for instance, (_name, moment) in told.items() if moment >= oldest)
    return {instance: told[instance] for _moment, instance in recent[-MOST_TELLERS:]}
