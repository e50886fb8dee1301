"""The policies in force, compiled: one small read a batch, and nothing more while no policy changes.

Decides which revisions are compiled and for how long they are kept. It must not judge policies: the guard did.
"""

from collections.abc import Sequence

from functions.ports.policies import Head, Heading, PolicyHeads
from functions.ports.triage import Telemetry
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode
from policies.loader import load_stored
from policies.model import Policy
from policies.rulebook import AcceptedPolicy, Rulebook, compile_policies


class Rulebooks:
    """Keeps the compiled rulebook of the last listing while the worker is warm."""

    def __init__(self, heads: PolicyHeads, telemetry: Telemetry) -> None:
        """Read from *heads*; an accepted document that this version cannot read is told to *telemetry* and left out."""
        self._heads = heads
        self._telemetry = telemetry
        self._listing: tuple[Heading, ...] | None = None
        self._accepted: dict[tuple[str, int, str], AcceptedPolicy] = {}
        self._rulebook = compile_policies([])

    def current(self) -> Rulebook:
        """Return the rules in force now. DependencyError when the listing or a head cannot be read."""
        listing = tuple(sorted(self._heads.headings(), key=lambda one: one.name))
        if listing != self._listing:
            self._rulebook = compile_policies(self._read(listing))
            self._listing = listing
        return self._rulebook

    def _read(self, listing: Sequence[Heading]) -> list[AcceptedPolicy]:
        known, self._accepted = self._accepted, {}
        wanted = {_key(heading): heading for heading in listing if heading.mode is not PolicyMode.OFF}
        news = self._fetch([heading for key, heading in wanted.items() if key not in known])
        for key, heading in wanted.items():
            policy = known.get(key) or news.get(heading.name)
            if policy is not None:
                self._accepted[key] = policy
        return list(self._accepted.values())

    def _fetch(self, headings: Sequence[Heading]) -> dict[str, AcceptedPolicy | None]:
        """Return what became of the heads of *headings*, by name; None for one that this version cannot read."""
        heads = self._heads.heads([heading.name for heading in headings]) if headings else {}
        for heading in headings:
            head = heads.get(heading.name)
            if head is None or head.revision < heading.revision:
                raise DependencyError(
                    f"policy {heading.name}: the listing has revision {heading.revision}, the head does not.",
                    hint="It is retried; if it stays so, edit the policy's live item, and the guard writes both again.",
                )
        return {name: self._accept(head) for name, head in heads.items()}

    def _accept(self, head: Head) -> AcceptedPolicy | None:
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


def _key(heading: Heading) -> tuple[str, int, str]:
    return heading.name, heading.revision, heading.hash
