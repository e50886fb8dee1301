"""Mistakes that only several policies make: they share a name, say the same, contradict or hide one another.

Decides for policies that act, or will once they are armed: those that tell only may say what they like beside others.
"""

from collections.abc import Iterable, Iterator, Sequence

from policies.lint.branches import implies
from policies.lint.flaw import Flaw
from policies.lint.meeting import Pair, may_meet
from policies.lint.reading import Reading


def flaws_together(readings: Sequence[Reading]) -> Iterator[tuple[int, Flaw]]:
    """Yield (index into *readings*, flaw) for each policy that does not go together with another."""
    acting = [at for at, read in enumerate(readings) if not read.is_off and read.acts]
    pairs = may_meet([readings[at].possible for at in acting])
    yield from flaws_of(readings, ((acting[one], acting[two]) for one, two in pairs))


def flaws_of(readings: Sequence[Reading], pairs: Iterable[Pair]) -> Iterator[tuple[int, Flaw]]:
    """Yield the same for these *pairs* of indexes only."""
    for one_at, two_at in pairs:
        one, two = readings[one_at], readings[two_at]
        flaw = _between(one, two)
        if flaw is not None:
            yield two_at, flaw
            continue
        for at, hidden, leading in ((one_at, one, two), (two_at, two, one)):
            if _hides(leading, hidden):
                yield at, _hidden(leading)
                break
        else:
            if one.policy.priority == two.policy.priority and _meet(one, two):
                yield two_at, _may_meet(one)


def _between(one: Reading, two: Reading) -> Flaw | None:
    """Both ask for the very same."""
    same = implies(one.possible, two.possible) and implies(two.possible, one.possible)
    alike = one.policy.unless == two.policy.unless and one.policy.count == two.policy.count
    if not (same and alike):
        return None
    if frozenset(one.policy.do) == frozenset(two.policy.do):
        return Flaw.of(
            "L801", "when", f"{one.policy.name} has the same condition and does the same.", "Keep one of them."
        )
    if one.policy.priority == two.policy.priority:
        return Flaw.of(
            "L802",
            "do",
            f"{one.policy.name} has the same condition and does {', '.join(one.policy.do)}.",
            "Keep one, or give them priorities.",
        )
    return None


def _hides(leading: Reading, hidden: Reading) -> bool:
    """Whether *leading* answers first whatever *hidden* would answer."""
    first, second = leading.policy, hidden.policy
    sooner = first.count.at_least == 1 and first.settle <= second.settle and not leading.unless
    return first.priority > second.priority and sooner and implies(hidden.possible, leading.possible)


def _hidden(leading: Reading) -> Flaw:
    reason = f"{leading.policy.name} is true wherever this is, asks for one only, and has the higher priority."
    return Flaw.of("L803", "when", reason, "Raise this priority, or narrow the other condition.")


def _meet(one: Reading, two: Reading) -> bool:
    """Whether one event may be both's: what `unless` takes out is not."""
    both = [left.with_(right) for left in one.possible for right in two.possible]
    exceptions = [*one.unless, *two.unless]
    return any(not branch.contradiction and not implies([branch], exceptions) for branch in both)


def _may_meet(one: Reading) -> Flaw:
    hint = "Then both are done, and the harder act leads; a priority lets one decide."
    return Flaw.of("L804", "priority", f"{one.policy.name} may be true of the same event, at the same priority.", hint)
