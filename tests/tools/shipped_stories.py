"""What the shipped policies make of one physical fault: events as agents send them, who fires, which act leads."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from agent.kernel_log.record import KernelRecord
from agent.parsers.registry import parse_sightings
from agent.parsers.sighting import Sighting
from policies.contract.decisions import Finding
from policies.contract.envelope import Envelope, NodeIdentity, ParsedEnvelope
from policies.contract.events import Component, FaultEvent, JobRef, Scalar
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import Action, ComponentType, Kind, Severity, Source
from policies.evaluator import Delivery, Evaluation, evaluate
from policies.facts.snapshot import Facts, ReadDocument, ReadFacts
from policies.loader import load_text
from policies.model import Policy
from policies.rulebook import Rulebook
from tests.tools.envelopes import SHIPPED, at, shipped

P3, P4D, P5, B200, GB200 = "p3.16xlarge", "p4d.24xlarge", "p5.48xlarge", "p6-b200.48xlarge", "p6e-gb200.36xlarge"
GPU, OTHER = "0000:4b:00", "0000:5d:00"
# What costs more leads where findings of one node meet while it settles (policies/coordination/joining.py).
RANKS = {
    action: rank
    for rank, actions in enumerate(
        (
            {Action.RECORD},
            {Action.ALERT, Action.COLLECT_EVIDENCE},
            {Action.PAGE_OPERATOR},
            {Action.ISOLATE, Action.SUSPEND_JOB},
            {Action.RESUME_JOB},
            {Action.RESTART_PROCESS, Action.RESTART_SERVICE},
            {Action.RESET_GPU, Action.RELOAD_DRIVER},
            {Action.DRAIN, Action.REBOOT_NODE},
            {Action.REPLACE_NODE},
        )
    )
    for action in actions
}
TOUCHING = frozenset(action for action, rank in RANKS.items() if rank >= RANKS[Action.ISOLATE])


@dataclass(frozen=True)
class Told:
    """One sighting, so many seconds after the first."""

    sighting: Sighting
    after: float = 0.0
    message: str = ""
    job: str | None = None


def line(text: str, after: float = 0.0, job: str | None = None) -> list[Told]:
    """Return what the agent's parsers make of a line of the kernel's log."""
    found = [Told(one, after, text, job) for one in parse_sightings(KernelRecord(text))]
    assert found, f"no parser knows {text!r}"
    return found


def xid(code: int, rest: str = "", *, pci: str = GPU, after: float = 0.0, job: str | None = None) -> list[Told]:
    """Return the driver's line about an Xid."""
    return line(f"NVRM: Xid (PCI:{pci}): {code}, {rest}", after, job)


def polled(
    kind: Kind,
    severity: Severity = Severity.ERROR,
    *,
    component: Component | None = None,
    after: float = 0.0,
    **attributes: Scalar,
) -> list[Told]:
    """Return a measured condition, by default of the GPU."""
    part = component or Component(type=ComponentType.GPU, index=2, uuid="GPU-2", pci=GPU, serial="165")
    return [Told(Sighting(kind, severity, part, attributes), after)]


@cache
def policies_by_name() -> dict[str, Policy]:
    """Return the shipped policies."""
    loaded = (load_text(path.read_bytes()) for path in sorted(SHIPPED.glob("*.yaml")))
    return {one.name: one for one in loaded if isinstance(one, Policy)}


@cache
def rulebook() -> Rulebook:
    """Return the shipped rulebook, made once."""
    return shipped()


def judged(
    told: Iterable[Told], instance_type: str = P5, known: Facts | None = None, driver: str = ""
) -> Sequence[Finding]:
    """Return what all shipped policies find, in one batch for each event; *known* are other facts than usual ones."""
    return [finding for outcome in _outcomes(told, instance_type, known, driver) for finding in outcome.findings]


def unanswered(told: Iterable[Told], instance_type: str = P5) -> set[str]:
    """Return which conditions of which policies could not be answered."""
    refused = (each for outcome in _outcomes(told, instance_type) for each in outcome.refused)
    return {f"{each.policy}, {each.field}: {each.path} {each.reason}" for each in refused}


def _outcomes(
    told: Iterable[Told], instance_type: str, known: Facts | None = None, driver: str = ""
) -> Iterator[Evaluation]:
    node = NodeIdentity(
        cluster="c", name="n", instance_id="i-1", instance_type=instance_type, boot_id="b", driver_version=driver
    )
    state = ""
    ordered = sorted(enumerate(told), key=lambda one: (one[1].after, one[0]))
    for seq, (_place, one) in enumerate(ordered):
        envelope = Envelope(node=node, spool_id="s", first_seq=seq, sent_at=at(one.after), events=(event_of(one, seq),))
        delivery = Delivery(ParsedEnvelope(envelope), at(one.after))
        now, facts = at(one.after), known or calm(at(one.after))
        outcome = evaluate([delivery], state=state, rulebook=rulebook(), now=now, snapshot=facts)
        state = outcome.state
        yield outcome


def calm(now: datetime) -> ReadFacts:
    """Return what is known of a node that coordinate never had to do with, in a cluster where nothing else happens."""
    kept = (("history", "i-1"), ("maintenance", "i-1"), ("recent", ""))
    return ReadFacts({each: ReadDocument(None, now) for each in kept}, now)


def fired(findings: Iterable[Finding]) -> set[str]:
    """Return which policies fired."""
    return {finding.policy.name for finding in findings}


def lead(findings: Iterable[Finding]) -> tuple[str, Action]:
    """Return which policy's act leads, and its gravest action."""
    return max(
        ((one.policy.name, max(one.policy.do, key=RANKS.__getitem__)) for one in findings),
        key=lambda pair: (RANKS[pair[1]], pair[0]),
    )


def event_of(told: Told, seq: int = 0) -> FaultEvent:
    """Return the event that an agent makes of it."""
    one = told.sighting
    return FaultEvent(
        id=stable_id("story", seq),
        seq=seq,
        kind=one.kind,
        severity=one.severity,
        persistence=one.persistence,
        source=Source.KERNEL_LOG,
        observed_at=at(told.after),
        first_observed_at=at(told.after),
        component=one.component,
        job=JobRef(id=told.job) if told.job else None,
        attributes=dict(one.attributes),
        message=told.message,
    )
