"""Mistakes of `count`: what can never be reached, and what is reached by one fault alone."""

from collections.abc import Iterator

from policies.contract.vocabulary import Kind
from policies.lint.flaw import Flaw
from policies.lint.reading import Reading, kinds_of
from policies.model import LONGEST_COUNT_OF_OCCURRENCES, Count

# One fault prints a line a warp, a process or a link (NVIDIA, "Xid Errors": 13 and 31 by SM, 94 by process, 74 by
# link). A corrected PCIe error is one of a rate: there the count itself is meant.
_CHATTY = frozenset({Kind.GPU_XID, Kind.NVSWITCH_SXID, Kind.PCIE_UNCORRECTED})
_OF_A_PART = ("event.component.",)
_SECOND_LOOK = 3600.0
_OCCURRENCES = (30, 10, 5, 2, 1)  # seconds: companions of one error come within 30


def counting_flaws(read: Reading) -> Iterator[Flaw]:
    """Yield what is wrong with the count of *read*."""
    count = read.policy.count
    yield from _reach(count)
    yield from _lines(read, count)
    yield from _distinct(read, count)
    yield from _same(read, count)
    if count.at_least == 1 and not count.occurrence and not count.distinct and count.within > _SECOND_LOOK:
        yield Flaw.of(
            "L406",
            "count.within",
            f"it is told once in {count.within:g} s, however often it happens.",
            "occurrence tells each one.",
        )


def _reach(count: Count) -> Iterator[Flaw]:
    """The next occurrence begins after the one before is over."""
    if count.occurrence and not count.distinct and (count.at_least - 1) * count.occurrence >= count.within:
        reason = f"{count.at_least} occurrences of {count.occurrence:g} s never begin within {count.within:g} s."
        yield Flaw.of("L402", "count", reason, "Lengthen within, or shorten occurrence.")


def _lines(read: Reading, count: Count) -> Iterator[Flaw]:
    chatty = [kind for branch in read.possible for kind in kinds_of(branch) or () if kind in _CHATTY]
    if count.at_least > 1 and not count.occurrence and not count.distinct and chatty:
        reason = f"one fault prints several lines of {chatty[0]}, and each counts."
        yield Flaw.of("L403", "count", reason, _as_occurrences(count))


def _as_occurrences(count: Count) -> str:
    """Return what to write so that errors count instead of lines, and can still be reached."""
    at_least = min(count.at_least, LONGEST_COUNT_OF_OCCURRENCES)
    lowered = f"at_least: {at_least}, " if at_least < count.at_least else ""
    span = next((span for span in _OCCURRENCES if span <= count.within and (at_least - 1) * span < count.within), None)
    return f"Add {lowered}occurrence: {span}s." if span else "Lengthen within, and say what one occurrence is."


def _distinct(read: Reading, count: Count) -> Iterator[Flaw]:
    if count.distinct is None:
        return
    if count.at_least == 1:
        yield Flaw.of("L405", "count.distinct", "one value is always there: nothing is counted.", "Raise at_least.")
        return
    if _is_fixed(read, count, count.distinct):
        yield Flaw.of(
            "L404",
            "count.distinct",
            f"{count.distinct} is the same in all that is counted together.",
            "The count is never reached.",
        )


def _same(read: Reading, count: Count) -> Iterator[Flaw]:
    if count.same is None or not _is_fixed(read, count, count.same):
        return
    reason = f"{count.same} is the same in all that is counted together anyhow."
    yield Flaw.of("L413", "count.same", reason, "Leave it out, or count in a wider scope.")


def _is_fixed(read: Reading, count: Count, member: str) -> bool:
    """Whether *member* has one value in everything that one count counts."""
    tied = [branch.texts(member) for branch in read.possible]
    single = tied and all(texts is not None and len(texts) == 1 for texts in tied) and len(set(tied)) == 1
    of_part = count.per == "component" and member.startswith(_OF_A_PART)
    of_node = count.per in {"component", "node"} and member.startswith("node.")
    of_job = count.per == "job" and member == "job.id"
    return bool(single or of_part or of_node or of_job or member == "node.cluster")
