"""The policies in force, compiled: one small read a batch, and nothing more while no policy changes.

Decides which revisions are compiled and for how long they are kept, and by what is judged when somebody changed by
hand what only the guard writes: one policy's broken line or head must not keep faults from all others, and no policy
may vanish by it, nor all of them with their listing. It must not judge policies: the guard did.
"""

from collections.abc import Mapping, Sequence

from functions.ports.policies import Head, Heading, PolicyHeads
from functions.ports.triage import Telemetry
from policies.contract.vocabulary import PolicyMode
from policies.loader import load_stored
from policies.model import Policy
from policies.rulebook import AcceptedPolicy, Rulebook, compile_policies

MOST_TOLD = 20  # of a listing that is gone each policy is in doubt; the count has them all


class Rulebooks:
    """Keeps the compiled rulebook of the last listing while the worker is warm."""

    def __init__(self, heads: PolicyHeads, telemetry: Telemetry) -> None:
        """Read from *heads*; an accepted document that this version cannot read is told to *telemetry* and left out."""
        self._heads = heads
        self._telemetry = telemetry
        self._listing: tuple[Heading, ...] | None = None
        self._accepted: dict[str, AcceptedPolicy] = {}
        self._doubts: dict[str, str] = {}
        self._unlisted: frozenset[str] = frozenset()  # what there was as the listing went, until it is there again
        self._rulebook = compile_policies([])

    def current(self) -> Rulebook:
        """Return the rules in force now. DependencyError when the listing, or heads at all, cannot be read.

        The head is the truth and the listing its index: where a line is broken, gone, or ahead of its head, the head
        counts, and is read each time until the guard has written both anew; where the head is broken or gone, what was
        in force last. Each is told to telemetry, a policy of which nothing is left as one that is not applied. Where
        there is no listing at all, that goes for every policy; a worker that has just begun looks for their heads, and
        tells of it if the next batch finds no listing either.
        """
        listing = tuple(sorted(self._heads.headings(), key=lambda one: one.name))
        unlisted = frozenset() if listing else self._unlisted or self._without_listing()
        # The first policy of an account has a head some moments before its line: only what lasts is told.
        is_news = bool(unlisted) and not self._unlisted and not self._accepted
        self._unlisted = unlisted
        if listing != self._listing or self._doubts or unlisted:
            self._rulebook = compile_policies(self._read(listing, is_told=not is_news))
            self._listing = listing
        return self._rulebook

    def _without_listing(self) -> frozenset[str]:
        """Return what was in force last, else what has a head: a table in which nothing was ever accepted has none."""
        return frozenset(self._accepted) or frozenset(self._heads.names_of_heads())

    def _read(self, listing: Sequence[Heading], *, is_told: bool) -> list[AcceptedPolicy]:
        known, doubts = self._accepted, dict[str, str]()
        lines = {heading.name: heading for heading in listing}
        lost = [Heading.unreadable(name) for name in [*known, *self._doubts, *self._unlisted] if name not in lines]
        wanted = [heading for heading in [*listing, *dict.fromkeys(lost)] if heading.mode is not PolicyMode.OFF]
        found = {each.name: known[each.name] for each in wanted if _is_of(known.get(each.name), each)}
        asked = [heading for heading in wanted if heading.name not in found]
        heads = self._heads.heads([heading.name for heading in asked]) if asked else {}
        for heading in asked:
            name, last, head = heading.name, known.get(heading.name), heads.get(heading.name)
            if head is None and name not in lines and name not in self._unlisted:
                continue  # line and head are gone: so is the policy
            policy = self._accept(head) if head else last
            if policy is not None:
                found[name] = policy
            if doubt := _doubt(heading, head, last):
                doubts[name] = doubt
        if is_told:
            self._tell(doubts)
        self._accepted, self._doubts = found, doubts if is_told else {}
        return list(found.values())

    def _tell(self, doubts: Mapping[str, str]) -> None:
        """Count *doubts* as long as they last, so that the alarm does, and say each once."""
        if doubts:
            self._telemetry.count("PoliciesUnreadable", len(doubts))
        new = {name: doubt for name, doubt in doubts.items() if self._doubts.get(name) != doubt}
        for name, doubt in list(new.items())[:MOST_TOLD]:
            self._telemetry.warn("what the guard writes of a policy was changed by hand", policy=name, reason=doubt)
        if len(new) > MOST_TOLD:
            self._telemetry.warn("and so it was of more policies", policies=len(new) - MOST_TOLD)

    def _accept(self, head: Head) -> AcceptedPolicy | None:
        if head.mode is PolicyMode.OFF:  # newer than its line; after a deletion its document still says another mode
            return None
        loaded = load_stored(head.document)
        if isinstance(loaded, Policy):
            return AcceptedPolicy(loaded, head.revision, head.hash)
        told = "; ".join(str(problem) for problem in loaded)
        self._telemetry.count("PoliciesUnreadable")
        self._telemetry.warn(
            "an accepted policy cannot be read by this version and is not in force",
            policy=head.name,
            revision=head.revision,
            problems=told,
        )
        return None


def _is_of(known: AcceptedPolicy | None, heading: Heading) -> bool:
    return known is not None and (known.revision, known.hash) == (heading.revision, heading.hash)


def _doubt(heading: Heading, head: Head | None, last: AcceptedPolicy | None) -> str:
    """Return what is wrong with line and head, and what counts instead; "" for nothing."""
    if head is None:
        what = f"revision {last.revision}, which was in force last, is applied" if last else "it is NOT applied"
        return f"its head cannot be read; {what}"
    if not heading.is_readable:
        return f"its line of the listing is gone or cannot be read; its head, revision {head.revision}, counts"
    if head.revision < heading.revision:
        return f"its line of the listing says revision {heading.revision}; its head, revision {head.revision}, counts"
    return ""
