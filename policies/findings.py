"""Makes a finding of a fulfilled window: what coordinate is told.

Decides the finding's identity: never the event that happened to complete it, so that the same condition, met again
after a crash or by another lane, is the same finding. It must not decide whether a window is fulfilled.
"""

from dataclasses import dataclass, field
from datetime import datetime

from policies.contract.decisions import Finding, generation_of
from policies.contract.envelope import NodeIdentity
from policies.contract.events import Component, FaultEvent, cut_message
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import ComponentType
from policies.facts.snapshot import NOTHING_KNOWN, Facts, told
from policies.measures import LATENESS_MS, Fulfilled
from policies.moments import from_ms
from policies.rulebook import Rule

LONGEST_NAME = 64  # a UUID of a MIG instance has 61 characters; what is longer is junk and must not fill the state
MOST_EVENT_IDS = MOST_MESSAGES = 8
MESSAGE_BYTES = 512  # eight of them and the rest must leave room for a hundred findings in one message


@dataclass
class Matched:
    """What one rule saw of one component in this batch: its newest event, where it came from, what was printed."""

    rule: Rule
    scope: str
    event: FaultEvent
    moment: int
    node: NodeIdentity
    queued_at: datetime
    messages: dict[str, None] = field(default_factory=dict)


def scope_of(component: Component | None) -> str:
    """Return what tells the component from others of its node, by the name that every source is likeliest to know."""
    if component is None:
        return "node"
    name = component.pci or component.uuid or component.serial
    if name is None:
        name = "" if component.index is None else str(component.index)
    elif len(name) > LONGEST_NAME:
        name = stable_id(name)
    # A GPU is one part whichever of its links shows the fault; an NVLink or NVSwitch port is a part of its own.
    counts_links = component.link is not None and component.type is not ComponentType.GPU
    return f"{component.type}:{name}:{component.link}" if counts_links else f"{component.type}:{name}"


def build_finding(matched: Matched, window: Fulfilled, now: datetime, known: Facts = NOTHING_KNOWN) -> Finding:
    """Return the finding that *window* stands for, decided at *now*; it keeps what its rule asked of the *known*."""
    rule, event, node = matched.rule, matched.event, matched.node
    start = from_ms(window.start)
    generation = generation_of(node.instance_id)
    identity = (rule.name, rule.revision, rule.hash, node.cluster, generation, matched.scope, window.start)
    return Finding.trusted(
        id=stable_id("finding", *identity),
        node=node,
        generation=generation,
        policy=rule.plan,
        kind=event.kind,
        severity=event.severity,
        source=event.source,
        component=event.component,
        job=event.job,
        count=window.count,
        window_start=start,
        first_observed_at=start,
        observed_at=from_ms(window.end),
        queued_at=matched.queued_at,
        decided_at=now,
        late=window.end < now.timestamp() * 1000 - LATENESS_MS,
        event_ids=window.event_ids[:MOST_EVENT_IDS],
        messages=tuple(matched.messages),
        attributes=event.attributes,
        facts=told(known, rule.facts, event, node) if rule.facts else {},
    )


def keep_message(matched: Matched, text: str) -> None:
    """Add what the event printed, once, as long as there is room."""
    if text and text not in matched.messages and len(matched.messages) < MOST_MESSAGES:
        matched.messages.setdefault(text if len(text) <= MESSAGE_BYTES // 4 else cut_message(text, MESSAGE_BYTES)[0])
