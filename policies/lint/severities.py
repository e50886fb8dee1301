"""A condition that asks for a severity and leaves worse ones out, where no other policy is there for those.

Decides by what the policies beside it ask for: `severity == "warning"` here and `["error", "critical"]` there is a line
that somebody drew, and nothing is said of it. Who names `info` drew it as well: at least so bad would be any event.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from policies.contract.vocabulary import Severity
from policies.expressions.native import Term
from policies.lint.branches import Branch, overlap
from policies.lint.flaw import Flaw
from policies.lint.meeting import may_meet
from policies.lint.reading import Reading

SEVERITY = "event.severity"


@dataclass(frozen=True)
class _Left:
    """What the branch of policy number ``owner`` that asks for the severities ``asked`` leaves out: one worse one."""

    owner: int
    asked: frozenset[Severity]
    out: Severity
    branch: Branch


def severity_flaws(readings: Sequence[Reading]) -> Iterator[tuple[int, Flaw]]:
    """Yield (index into *readings*, flaw) for each policy that leaves a worse severity out which none of them asks."""
    found = [left for at, read in enumerate(readings) for left in _left_out(at, read)]
    if not found:
        return
    heard = [() if read.is_off else read.possible for read in readings]
    pairs = may_meet([*heard, *([left.branch] for left in found)])
    met = {
        second - len(heard)
        for first, second in pairs
        if first < len(heard) <= second and overlap(heard[first], [found[second - len(heard)].branch])
    }
    open_ = [left for at, left in enumerate(found) if at not in met]
    for owner, asked in dict.fromkeys((left.owner, left.asked) for left in open_):
        out = {left.out for left in open_ if (left.owner, left.asked) == (owner, asked)}
        yield owner, _flaw(asked, out)


def _left_out(owner: int, read: Reading) -> Iterator[_Left]:
    for branch in read.possible:
        asked = frozenset(Severity(str(text)) for text in branch.texts(SEVERITY) or ())
        if not asked or Severity.INFO in asked:
            continue
        rest = tuple(part for part in branch.parts if not (isinstance(part, Term) and part.path == SEVERITY))
        for out in sorted(_at_least(asked) - asked, key=_rank):
            worse = Term(SEVERITY, negated=False, texts=frozenset({out.value}), flags=frozenset())
            yield _Left(owner, asked, out, Branch((*rest, worse)))


def _at_least(asked: frozenset[Severity]) -> frozenset[Severity]:
    """Return what is at least as bad as the mildest of *asked*."""
    mildest = min(severity.rank for severity in asked)
    return frozenset(severity for severity in Severity if severity.rank >= mildest)


def _flaw(asked: frozenset[Severity], out: set[Severity]) -> Flaw:
    words = ", ".join(f'"{severity}"' for severity in sorted(_at_least(asked), key=_rank))
    reason = f"severity {_and(asked)} leaves {_and(out)} out, and no other policy here asks for that."
    return Flaw.of("L215", "when", reason, f"At least so bad: {SEVERITY} in [{words}].")


def _and(severities: Iterable[Severity]) -> str:
    return " and ".join(severity.value for severity in sorted(severities, key=_rank))


def _rank(severity: Severity) -> int:
    return severity.rank
