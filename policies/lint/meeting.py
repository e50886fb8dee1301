"""Which conditions may hold for one event at all: those that no member with given values keeps apart.

Decides which pairs of policies are worth holding against each other, so that a thousand of them cost some thousands of
looks and not half a million. It errs on the side of a look too many: whether two do meet, or one implies the other, it
must not decide. Where a branch implies another, or both hold at once, each member that both tie has a value in common.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

from policies.lint.branches import Branch

_FEW = 8  # so many are compared with each other sooner than told apart
Pair = tuple[int, int]


@dataclass(frozen=True)
class _Tied:
    """One alternative of the condition number ``owner``."""

    owner: int
    branch: Branch

    @cached_property
    def values(self) -> dict[str, frozenset[object]]:
        """The values that each member is tied to. To Python 1 is True: here that is a look too many at worst."""
        paths = {term.path for term in self.branch.terms if not term.negated}
        allowed = ((path, self.branch.allowed(path)) for path in paths)
        return {path: frozenset(value for _flag, value in tied) for path, tied in allowed if tied is not None}


def may_meet(conditions: Sequence[Sequence[Branch]]) -> list[Pair]:
    """Return the pairs of *conditions* (first < second, in order) that may have an event in common."""
    tied = [_Tied(owner, branch) for owner, branches in enumerate(conditions) for branch in branches]
    found = {(min(pair), max(pair)) for pair in _pairs(tied, frozenset()) if pair[0] != pair[1]}
    return sorted(found)


def _pairs(tied: Sequence[_Tied], told: frozenset[str]) -> Iterator[Pair]:
    """Yield the owners of each two that no member but those *told* keeps apart, as far as that is quickly seen."""
    path = _telling(tied, told)
    if not path:
        yield from combinations(sorted({one.owner for one in tied}), 2)
        return
    groups: dict[object, list[_Tied]] = {}
    for one in tied:
        for value in one.values.get(path, ()):
            groups.setdefault(value, []).append(one)
    loose = [one for one in tied if path not in one.values]
    once = {tuple(map(id, group)): group for group in groups.values()}  # many kinds are often tied together
    for group in (*once.values(), loose):
        yield from _pairs(group, told | {path})
    bound = {one.owner for group in groups.values() for one in group}
    yield from product({one.owner for one in loose}, bound)


def _telling(tied: Sequence[_Tied], told: Iterable[str]) -> str:
    """Return the member by which most of *tied* can be told apart, empty where that is not worth it."""
    if len(tied) <= _FEW:
        return ""
    known = Counter(path for one in tied for path in one.values)
    for path in told:
        del known[path]
    return min(known, key=lambda path: (-known[path], path), default="")
