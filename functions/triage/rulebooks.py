"""The policies in force, compiled: one small read a batch, and nothing more while no policy changes.

Decides which revisions are compiled and for how long they are kept. It must not judge policies: the guard did.
"""

import json
from collections.abc import Sequence

from functions.ports.policies import Head, Heading, PolicyHeads
from functions.ports.triage import Telemetry
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode
from policies.loader import Loaded, load_document
from policies.model import Policy
from policies.problems import Problem
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
        for heading in listing:
            key = (heading.name, heading.revision, heading.hash)
            policy = None if heading.mode is PolicyMode.OFF else known.get(key) or self._fetch(heading)
            if policy is not None:
                self._accepted[key] = policy
        return list(self._accepted.values())

    def _fetch(self, heading: Heading) -> AcceptedPolicy | None:
        head = self._heads.head(heading.name)
        if head is None or head.revision < heading.revision:
            raise DependencyError(
                f"policy {heading.name}: the listing has revision {heading.revision}, the head does not.",
                hint="It is retried; if it stays so, edit the policy's live item, and the guard writes both again.",
            )
        return self._accept(head)

    def _accept(self, head: Head) -> AcceptedPolicy | None:
        loaded = _read(head.document)
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


def _read(document: str) -> Loaded:
    """Somebody may have edited a head by hand: whatever it holds must not stop the other policies."""
    try:
        fields = json.loads(document)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        return [
            Problem.of("", "the head's document is no JSON object.", "Edit the live item: the guard writes the head.")
        ]
    return load_document(fields)
