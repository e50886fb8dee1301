"""Mistakes of `when` and `unless` as a whole: never true, true of nearly everything, two conditions that do not fit.

Decides by the plain parts of a condition (`branches.py`); what those leave open is taken as meant.
"""

from collections.abc import Iterator, Mapping

from policies.contract.vocabulary import Kind
from policies.expressions.attributes import ATTRIBUTES
from policies.expressions.members import ATTRIBUTE_ROOT
from policies.expressions.paths import paths
from policies.facts.registry import AGE, documents_of
from policies.lint.branches import Branch, branches_of, implies, overlap
from policies.lint.flaw import Flaw
from policies.lint.reading import KIND, XID, Reading, kinds_of

_OWN: Mapping[str, Kind] = {XID: Kind.GPU_XID, f"{ATTRIBUTE_ROOT}sxid": Kind.NVSWITCH_SXID}
_BROAD = frozenset({"event.severity", "event.persistence", "event.source", "event.count", KIND})
_TOO_MANY_KINDS = len(Kind) // 3


def condition_flaws(read: Reading) -> Iterator[Flaw]:
    """Yield what is wrong with the conditions of *read*."""
    yield from _impossible(read)
    for branch in read.possible:
        yield from _breadth(branch)
    yield from _exceptions(read)
    yield from _cancellation(read)
    yield from _ages(read)


def _ages(read: Reading) -> Iterator[Flaw]:
    for field, tokens in read.tokens:
        named = {path.member for path in paths(tokens)}
        if AGE in named and not documents_of(named):
            yield Flaw.of("L225", field, f"{AGE} is the age of facts, and none stands beside it.", "Name one, or none.")


def _impossible(read: Reading) -> Iterator[Flaw]:
    broken = [branch.contradiction for branch in read.when if branch.contradiction]
    if broken and not read.possible:
        yield Flaw.of("L210", "when", f"{broken[0]} cannot be all that is asked of it; this is never true.", _OR)
    for path in dict.fromkeys(broken if read.possible else ()):
        yield Flaw.of("L211", "when", f"one alternative asks of {path} what it cannot be.", _OR)


_OR = "One member holds one value: join alternatives by || or `in [...]`, and mind brackets."


def _breadth(branch: Branch) -> Iterator[Flaw]:
    kinds = kinds_of(branch)
    for term in branch.terms:
        kind = _OWN.get(term.path)
        if kinds is None and kind is not None:
            reason = f"{term.path} is asked of events of every kind."
            yield Flaw.of("L214", "when", reason, f'Ask for event.kind == "{kind}" too.')
            return
    yield from _attributes(branch, kinds)
    if _is_broad(branch, kinds):
        yield Flaw.of("L213", "when", "it is true of most events there are.", 'Say which: event.kind == "...".')
    elif kinds is None:
        yield Flaw.of(
            "L212",
            "when",
            "no kind is asked for, so that events of every kind are judged by it.",
            'Add event.kind == "...", or event.kind in [...].',
        )


def _attributes(branch: Branch, kinds: frozenset[str] | None) -> Iterator[Flaw]:
    """The loader looks at all alternatives together; here each has kinds of its own."""
    if not kinds or not all(kind in ATTRIBUTES for kind in kinds):
        return
    known = frozenset().union(*(ATTRIBUTES[kind] for kind in kinds))
    for path in dict.fromkeys(term.path for term in branch.terms if term.path.startswith(ATTRIBUTE_ROOT)):
        name = path.removeprefix(ATTRIBUTE_ROOT)
        if name not in known:
            told = ", ".join(sorted(kinds)[:4])
            yield Flaw.of("L214", "when", f"{told} brings no {name}, so this alternative is never answered.", _OR)


def _is_broad(branch: Branch, kinds: frozenset[str] | None) -> bool:
    if kinds is not None and len(kinds) <= _TOO_MANY_KINDS:
        return False
    narrow = [term for term in branch.terms if term.path not in _BROAD and not term.negated]
    return not narrow and len(branch.terms) == len(branch.parts)


def _exceptions(read: Reading) -> Iterator[Flaw]:
    unless = branches_of(read.policy.unless)
    if not unless or not read.possible:
        return
    if implies(read.possible, unless):
        yield Flaw.of("L221", "unless", "it is true wherever `when` is, so the policy never fires.", "Narrow it.")
    elif not overlap(read.possible, unless):
        yield Flaw.of(
            "L222", "unless", "it is never true where `when` is, so it excepts nothing.", "Leave it out, or mend it."
        )


def _cancellation(read: Reading) -> Iterator[Flaw]:
    cancels = branches_of(read.policy.cancel_when)
    if cancels and implies(read.possible, cancels):
        yield Flaw.of("L223", "cancel_when", "what opens the incident calls it off as well.", "Ask for what ends it.")
    if cancels and not read.policy.settle:
        reason = "it calls off what settles, and settle is 0s: the acts are under way by then."
        yield Flaw.of("L224", "cancel_when", reason, "Give settle the time in which it may come.")
