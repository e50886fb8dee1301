"""Judges what one node has sent: new state and findings from old state, envelopes and the policies in force.

Decides which events are new, which rules they meet and which windows that fulfils. The answer does not depend on the
order in which envelopes arrive, nor on how often. It must not read a clock or write anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from policies.alike import value_of, with_value
from policies.cancelling import Cancelling
from policies.clock_correction import ClockCorrection
from policies.contract.decisions import Contribution, Contributions, Finding, WideRule
from policies.contract.envelope import ParsedEnvelope, RejectedEvent
from policies.contract.events import FaultEvent
from policies.contract.recoveries import ended_by
from policies.contract.restraints import Cancellation
from policies.contract.vocabulary import ComponentType
from policies.contributions import contribute, group
from policies.dwelling import Dwelling
from policies.expressions.expression import Expression, Unanswered
from policies.expressions.members import NodeFacts
from policies.facts.snapshot import NOTHING_KNOWN, Facts
from policies.findings import Matched, build_finding, keep_message, scope_of
from policies.lasting import Lasting, told_before
from policies.node_state import NodeState
from policies.rulebook import Rule, Rulebook
from policies.scopes import scope_key
from policies.sequences import Gap
from policies.warm_state import WarmState

GAP_PATIENCE_SECONDS = 300  # the lanes overtake each other by seconds; a shard that waits for a retry by a few minutes


class Delivery(NamedTuple):
    """One envelope and when its lane accepted it. ``in_order``: the lane keeps a node's order (overflow does not)."""

    parsed: ParsedEnvelope
    arrived_at: datetime
    in_order: bool = True


class Refused(NamedTuple):
    """A policy's expression that could not be answered for some events, which counts as no match."""

    policy: str
    field: str
    path: str
    reason: str
    times: int


class Evaluation(NamedTuple):
    """What became of a batch of one node.

    ``state`` is to be written if ``changed``, "" where it was handed in loaded. ``contributions`` are for coordinate to
    count. ``rejected`` holds (index of the delivery, event). ``gaps`` are losses to report as `pipeline.gap`, once.
    """

    state: str
    changed: bool
    findings: tuple[Finding, ...] = ()
    contributions: tuple[Contributions, ...] = ()
    cancellations: tuple[Cancellation, ...] = ()
    rejected: tuple[tuple[int, RejectedEvent], ...] = ()
    gaps: tuple[Gap, ...] = ()
    refused: tuple[Refused, ...] = ()
    events: int = 0
    repeats: int = 0
    matches: int = 0
    dropped_counters: int = 0
    was_unreadable: bool = False


def evaluate(
    deliveries: Sequence[Delivery],
    *,
    state: str | WarmState,
    rulebook: Rulebook,
    now: datetime,
    snapshot: Facts = NOTHING_KNOWN,
) -> Evaluation:
    """Judge *deliveries* of one node on top of *state* ("" for a node never heard of); no content makes it raise.

    A state that is handed in loaded goes on to what the text would be: whoever judges a month in one go needs no text.
    """
    loaded = state if isinstance(state, WarmState) else NodeState.load(state)
    node = loaded or NodeState()
    work = _Work(node, rulebook, snapshot, Dwelling(node, rulebook), Cancelling(node, rulebook))
    for index, delivery in enumerate(deliveries):
        work.take(index, delivery)
    if node.has_dwells:
        work.listen(deliveries)
    return work.conclude(state, now, was_unreadable=loaded is None)


@dataclass
class _Work:
    state: NodeState
    rulebook: Rulebook
    snapshot: Facts
    dwelling: Dwelling
    cancelling: Cancelling
    matched: dict[str, Matched] = field(default_factory=dict)
    contributions: dict[tuple[str, str], tuple[WideRule, list[Contribution]]] = field(default_factory=dict)
    rejected: list[tuple[int, RejectedEvent]] = field(default_factory=list)
    refused: dict[tuple[str, str, str, str], int] = field(default_factory=dict)
    events: int = 0
    repeats: int = 0
    matches: int = 0
    newest: int = 0
    clock: ClockCorrection = field(init=False)  # of the envelope under way

    def take(self, index: int, delivery: Delivery) -> None:
        envelope = delivery.parsed.envelope
        spool = self.state.spool(envelope.spool_id)
        spool.last_heard = max(spool.last_heard, int(delivery.arrived_at.timestamp()))
        self.clock = ClockCorrection(envelope.sent_at, delivery.arrived_at)
        moment_of = self.clock.moment_ms
        node, arrived_at, is_new = NodeFacts(envelope.node, self.snapshot), delivery.arrived_at, spool.take
        moments: list[int] = []
        for event in envelope.events:
            if is_new(event.seq):
                moments.append(moment := moment_of(event.observed_at))
                self._meet(event, node, moment, arrived_at)
        self.newest = max((self.newest, *moments))
        self.events += len(moments)
        self.repeats += len(envelope.events) - len(moments)
        for refused in delivery.parsed.rejected:
            if refused.seq is None or refused.seq < 0 or spool.take(refused.seq):
                self.rejected.append((index, refused))
        if delivery.in_order:
            spool.claim(max(envelope.first_seq, envelope.events[-1].seq + 1 if envelope.events else 0))

    def _meet(self, event: FaultEvent, node: NodeFacts, moment: int, arrived_at: datetime) -> None:
        rulebook = self.rulebook
        part = event.component
        if part is not None and part.uuid is not None and part.pci is not None and part.type is ComponentType.GPU:
            self._name(part.pci, part.uuid, moment, node)
        if rulebook.may_end and rulebook.is_news(event.kind):  # hardly any is
            over = ended_by(event)
            if over and rulebook.lasting:
                self.dwelling.heal(event, over, moment, node.identity.boot_id)
            self.cancelling.look(event, over, node, moment, self._holds)
        scope = ""
        for rule, rest in rulebook.candidates(event):
            matches = rest is None or self._holds(rule, "when", rest.ask(event, node))
            if matches and (rule.unless is None or not self._excepted(rule, rule.unless, event, node)):
                scope = scope or scope_of(event.component)
                self._count(rule, event, "node" if rule.per_node else scope, node, moment, arrived_at)
        if scope:
            self.matches += 1

    def _name(self, pci: str, uuid: str, moment: int, node: NodeFacts) -> None:
        if self.state.name_gpu(pci, uuid, moment):
            self.cancelling.rename(uuid, node.identity)

    def listen(self, deliveries: Sequence[Delivery]) -> None:
        """Note until when something was heard of the node: what nobody said to be over holds until then."""
        for delivery in deliveries:
            envelope = delivery.parsed.envelope
            heard = ClockCorrection(envelope.sent_at, delivery.arrived_at).moment_ms(envelope.sent_at)
            self.dwelling.hear(heard, envelope.node, delivery.arrived_at)

    def _excepted(self, rule: Rule, unless: Expression, event: FaultEvent, node: NodeFacts) -> bool:
        return self._holds(rule, "unless", unless.ask(event, node))

    def _holds(self, rule: Rule, where: str, answer: bool | Unanswered) -> bool:  # noqa: FBT001 - an answer, not a switch
        if isinstance(answer, Unanswered):
            self._refuse(rule.name, where, answer.path, answer.reason)
            return False
        return answer

    def _refuse(self, policy: str, where: str, path: str, reason: str) -> None:
        what = (policy, where, path, reason)
        self.refused[what] = self.refused.get(what, 0) + 1

    def _count(
        self, rule: Rule, event: FaultEvent, scope: str, node: NodeFacts, moment: int, arrived_at: datetime
    ) -> None:
        if rule.wide is not None:
            self._contribute(rule, rule.wide, event, node, moment, arrived_at)
            return
        if rule.dwell:
            self.dwelling.match(rule, scope, event, (self._began(event, moment), moment), node.identity.boot_id)
            return
        name = ""
        if rule.distinct is not None or rule.same is not None:
            agreed = self._agreed(rule, event, node)
            if agreed is None:
                return
            name, scope = str(agreed[0]), with_value(scope, agreed[1])
        key = f"{rule.name}|{scope}"
        counter = self.state.touched_counters.get(key) or self.state.counter(key, rule.revision)
        repeated = told_before(event) if "occurrence" in event.attributes else None
        if repeated is None:
            counter.add(rule.measure, moment, event.count, event.id, name)
        else:
            counter.repeat(Lasting(repeated, moment, moment, self._began(event, moment), name))
        matched = self.matched.get(key)
        if matched is None:
            matched = self.matched[key] = Matched(rule, scope, event, moment, node.identity, arrived_at)
        elif moment > matched.moment or (moment == matched.moment and event.id > matched.event.id):
            matched.event, matched.moment, matched.node, matched.queued_at = event, moment, node.identity, arrived_at
        if event.message and event.message not in matched.messages:
            keep_message(matched, event.message)

    def _began(self, event: FaultEvent, moment: int) -> int:
        return self.clock.began_ms(moment, event.observed_at, event.first_observed_at)

    def _agreed(self, rule: Rule, event: FaultEvent, node: NodeFacts) -> tuple[Any, str] | None:
        """Return what `count.distinct` and `count.same` read, "" where they are not asked; None refuses the event."""
        distinct = "" if rule.distinct is None else rule.distinct(event, node)
        value = "" if rule.same is None else value_of(rule.same(event, node))
        if distinct is None or value is None:
            self._refuse(rule.name, "count.distinct" if distinct is None else "count.same", "", "is not there")
            return None
        return distinct, value

    def _contribute(
        self, rule: Rule, wide: WideRule, event: FaultEvent, node: NodeFacts, moment: int, arrived_at: datetime
    ) -> None:
        scope = scope_key(wide.per, node.identity, event.job)
        if scope is None:
            self._refuse(rule.name, "count.per", wide.per, "is not known")
            return
        agreed = self._agreed(rule, event, node)
        if agreed is None:
            return
        distinct, value = agreed
        name = "/".join(distinct) if isinstance(distinct, list) else str(distinct)
        lasted = (self._began(event, moment), moment)
        entry = contribute(wide, scope, event, node.identity, lasted, arrived_at, name, value)
        self.contributions.setdefault((rule.name, scope), (wide, []))[1].append(entry)

    def conclude(self, before: str | WarmState, now: datetime, *, was_unreadable: bool) -> Evaluation:
        findings = self.dwelling.findings(now, self.snapshot) if self.state.has_dwells else []
        counters = self.state.touched_counters
        for key, matched in self.matched.items():
            for window in counters[key].fulfilled(matched.rule.measure, matched.rule.revision):
                findings.append(build_finding(matched, window, now, self.snapshot))
        seconds = int(now.timestamp())
        gaps: list[Gap] = []
        for spool in self.state.spools:
            gaps += spool.look_for_gaps(seconds, GAP_PATIENCE_SECONDS)
        cancellations = self.cancelling.told(findings) if self.rulebook.may_end else ()
        changed = was_unreadable or self.state.changed or self.dwelling.changed or self.cancelling.changed
        text, dropped = self._remember(before, changed=changed)
        wide = self.contributions.items()
        return Evaluation(
            state=text,
            changed=changed,
            findings=tuple(findings),
            contributions=tuple([group(rule, key[1], found) for key, (rule, found) in wide]) if wide else (),
            cancellations=cancellations,
            rejected=tuple(self.rejected),
            gaps=tuple(gaps),
            refused=tuple([Refused(*what, times) for what, times in self.refused.items()]) if self.refused else (),
            events=self.events,
            repeats=self.repeats,
            matches=self.matches,
            dropped_counters=dropped,
            was_unreadable=was_unreadable,
        )

    def _remember(self, before: str | WarmState, *, changed: bool) -> tuple[str, int]:
        """Return the new state's text, and how many counters did not fit."""
        if not isinstance(before, WarmState):
            return self.state.dump(self.newest, self.rulebook.horizons) if changed else (before, 0)
        if changed:
            return "", before.go_on(self.newest, self.rulebook.horizons)
        before.stay()
        return "", 0
