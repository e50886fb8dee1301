"""Makes an example of what was seen, and tries it at once with the very policy.

Decides how many findings the example promises: as many as come out. It must not read an archive or write a file.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any

from policies.contract.envelope import NodeIdentity
from policies.contract.events import Scalar
from policies.coordination.incident import Incident
from policies.examples import HEARTBEAT_SECONDS, Outcome, outcomes, switched_on
from policies.facts.registry import FACTS
from policies.facts.snapshot import StatedFacts
from policies.model import DAY, Example, ExampleEvent, Policy
from policies.recording.choosing import asked_about, asks_driver, notes_of, words_of
from policies.recording.masking import Mask
from policies.recording.merging import merged
from policies.recording.sightings import Sighting
from policies.recording.telling import span, tell_events
from policies.rulebook import compile_policies

MOST_EVENTS = 50
MOST_LOOKED_AT = 600  # of a storm: the first and the last say how it began and what it came to
LONGEST_SAYS = 500
MOST_KINDS = 3
MERGED_WITHIN = (1, 10, 60, 600)  # seconds: what is alike and so close is told once, with its count
MOST_TRIES = 40  # each is one judgement of up to so many events
DEFAULT_TYPE = Example.model_fields["instance_type"].default


@dataclass(frozen=True)
class Wish:
    """``says``: its title. ``findings``: what is to come out, if not what does. ``every``: companions stay.

    ``others`` are nodes of the cluster that may be spoken of.
    """

    says: str = ""
    findings: int | None = None
    every: bool = False
    others: Collection[NodeIdentity] = ()


@dataclass(frozen=True)
class Recording:
    """An example, as it is written, and how it went.

    ``found`` came out of it, ``happened`` are the policy's findings in the incident. ``left_out`` were not asked about;
    without the ``thinned`` ones the same comes out. ``unanswered``: what conditions asked for and nobody told.
    """

    document: Mapping[str, Any]
    found: int
    happened: int
    left_out: int
    thinned: int
    unanswered: tuple[str, ...]

    @property
    def example(self) -> Example:
        """The example."""
        return Example.model_validate(self.document)

    @property
    def passes(self) -> bool:
        """Whether it ends as it says."""
        return bool(self.found == self.document["findings"])

    @property
    def is_as_it_was(self) -> bool:
        """Whether the policy finds something in it if it did in the incident, and else nothing."""
        return bool(self.found) == bool(self.happened)


def record(incident: Incident, policy: Policy, seen: Sequence[Sighting], wish: Wish) -> Recording | None:
    """Return the example that *policy* gets of what was *seen* of *incident*; None when it asks about nothing of it."""
    facts = facts_of(incident, policy)
    asked = list(seen) if wish.every else asked_about(policy, seen, StatedFacts(facts))
    in_order = _within_a_day(sorted(asked, key=lambda one: (one.moment, one.node.instance_id, one.event.seq)))
    if not in_order:
        return None
    tries = _Tries(incident, policy, facts, wish, Mask(in_order, wish.others, keep=words_of(policy)))
    kept = _thinned(in_order, tries)
    outcome = tries.tried(kept)
    document = tries.document(kept) | {
        "says": wish.says[:LONGEST_SAYS] or _title(kept),
        "findings": outcome.found if wish.findings is None else wish.findings,
    }
    return Recording(
        document,
        outcome.found,
        len(notes_of(incident, policy)),
        len(seen) - len(asked),
        len(asked) - len(kept),
        outcome.unanswered,
    )


def facts_of(incident: Incident, policy: Policy) -> dict[str, Scalar]:
    """Return what *policy* asks for and no event tells, as its findings in *incident* know it."""
    (rule,) = compile_policies([switched_on(policy)]).rules
    known: dict[str, Scalar] = {}
    for note in notes_of(incident, policy):
        known |= {member: value for member, value in note.facts.items() if member in rule.facts}
    return {member: value for member, value in sorted(known.items()) if FACTS[member].holds(value)}


@dataclass(frozen=True)
class _Tries:
    """Tries one choice of events after the other."""

    incident: Incident
    policy: Policy
    facts: Mapping[str, Scalar]
    wish: Wish
    mask: Mask

    def document(self, seen: Sequence[Sighting]) -> dict[str, Any]:
        """Return the example of *seen* as it is written, but for its title and its end."""
        until, kind = self._until(seen), self._instance_type(seen)
        found: dict[str, Any] = {"events": self._events(seen)}
        found |= {"instance_type": kind} if kind != DEFAULT_TYPE else {}
        driver = self._driver_version(seen)
        found |= {"driver_version": driver} if driver else {}
        found |= {"facts": dict(self.facts)} if self.facts else {}
        return found | ({"until": span(until)} if until else {})

    def tried(self, seen: Sequence[Sighting]) -> Outcome:
        """Return how the example of *seen* ends. It may have more events here than one that is written."""
        example = Example.trusted(
            says="",
            instance_type=self._instance_type(seen),
            driver_version=self._driver_version(seen),
            facts=dict(self.facts),
            events=tuple(map(ExampleEvent.model_validate, self._events(seen))),
            until=self._until(seen),
            findings=0,
        )
        return outcomes(self.policy.model_copy(update={"examples": (example,)}))[0]

    def _events(self, seen: Sequence[Sighting]) -> list[dict[str, Any]]:
        (rule,) = compile_policies([switched_on(self.policy)]).rules
        racks = (1 if self.policy.count.per == "switch" else 0) if rule.asks_path or self.wish.every else None
        return tell_events(seen, self.mask, rack_level=racks)

    def _instance_type(self, seen: Sequence[Sighting]) -> str:
        return self.incident.node.instance_type or seen[0].node.instance_type

    def _driver_version(self, seen: Sequence[Sighting]) -> str:
        """Return the version that the node told, where the policy asks for it: others have nothing of it."""
        told = self.incident.node.driver_version or seen[0].node.driver_version
        return told if asks_driver(self.policy) else ""

    def _until(self, seen: Sequence[Sighting]) -> float:
        """Return how long (s) the nodes are heard of: it matters to a condition that has to last."""
        if self.policy.dwell is None:
            return 0.0
        ends = [note.observed_at for note in notes_of(self.incident, self.policy)] + [seen[-1].moment]
        lasted = max((max(ends) - seen[0].moment).total_seconds(), self.policy.dwell)
        return min(ceil(lasted / HEARTBEAT_SECONDS) * HEARTBEAT_SECONDS, DAY)


def _within_a_day(seen: Sequence[Sighting]) -> list[Sighting]:
    """Return what an example can tell: it lasts a day at most, so the newest of it."""
    return [one for one in seen if seen[-1].moment - one.moment <= timedelta(seconds=DAY)]


def _thinned(seen: Sequence[Sighting], tries: _Tries) -> list[Sighting]:
    """Return so few of *seen* that an example has room for them: with the same findings, or with some as before."""
    if len(seen) <= MOST_EVENTS:
        return list(seen)
    half = MOST_LOOKED_AT // 2
    kept = list(seen) if len(seen) <= MOST_LOOKED_AT else [*seen[:half], *seen[-half:]]
    wanted = tries.tried(kept).found
    for seconds in MERGED_WITHIN:
        fewer = merged(kept, timedelta(seconds=seconds))
        if len(fewer) < len(kept) and tries.tried(fewer).found == wanted:
            kept = fewer
        if len(kept) <= MOST_EVENTS:
            return kept
    kept = _without_what_is_not_needed(kept, lambda found: found == wanted, tries)
    kept = _without_what_is_not_needed(kept, lambda found: bool(found) == bool(wanted), tries)
    return kept[-MOST_EVENTS:]


def _without_what_is_not_needed(
    seen: Sequence[Sighting], is_enough: Callable[[int], bool], tries: _Tries
) -> list[Sighting]:
    kept, size, tried = list(seen), len(seen) // 2, 0
    while size and len(kept) > MOST_EVENTS and tried < MOST_TRIES:
        at = 0
        while at < len(kept) and len(kept) > MOST_EVENTS and tried < MOST_TRIES:
            rest, tried = [*kept[:at], *kept[at + size :]], tried + 1
            if rest and is_enough(tries.tried(rest).found):
                kept = rest
            else:
                at += size
        size //= 2
    return kept


def _title(seen: Sequence[Sighting]) -> str:
    """Return what happened, in a few words: the kinds, how many of each, on how many nodes, within what."""
    kinds = Counter(one.event.kind.value for one in seen)
    told = ", ".join(kind if times == 1 else f"{times} {kind}" for kind, times in kinds.most_common(MOST_KINDS))
    nodes = len({one.node.instance_id for one in seen})
    lasted = (seen[-1].moment - seen[0].moment).total_seconds()
    where = f" on {nodes} nodes" if nodes > 1 else ""
    return f"as it happened: {told}{where}{f' within {ceil(lasted)} s' if lasted else ''}"
