"""Why each policy did or did not fire for what a node has sent.

Decides nothing of its own: every event goes through `evaluate`, as triage has it, one by one; what came out is told
beside the parts of each condition and the state of each count. It must not read a clock or a table.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from policies.alike import value_of
from policies.clock_correction import ClockCorrection
from policies.contract.decisions import Finding
from policies.contract.envelope import NodeIdentity, ParsedEnvelope
from policies.contract.events import FaultEvent
from policies.contract.times import format_time
from policies.contract.vocabulary import Orchestrator, PolicyMode
from policies.coordination.contributing import hear
from policies.coordination.opening import lay_out_finding, why_nobody_acts
from policies.coordination.rules import Rules
from policies.coordination.switches import ALL_ACTIVE, Switches
from policies.coordination.whys import Why
from policies.coordination.windows import Window, window_key
from policies.evaluator import Delivery, evaluate
from policies.explain.asked import Asked, ask
from policies.explain.known import known_of
from policies.explain.standing import Standing, standing_of, wide_standing
from policies.explain.verdicts import Outcome, Verdict
from policies.expressions.members import NodeFacts
from policies.facts.maintenance import MEMBER as IN_MAINTENANCE
from policies.facts.snapshot import NOTHING_KNOWN, Facts
from policies.findings import scope_of
from policies.moments import from_ms
from policies.node_state import NodeState
from policies.rulebook import AcceptedPolicy, Rule, Rulebook, compile_policies
from policies.scopes import scope_key


@dataclass(frozen=True)
class Explained:
    """One event (None: a heartbeat) and what each policy made of it. ``known``: it had been received before."""

    event: FaultEvent | None
    node: NodeIdentity
    moment: datetime
    known: bool
    verdicts: tuple[Verdict, ...]

    def document(self) -> dict[str, Any]:
        """Return it for machines."""
        event = self.event.model_dump(mode="json", exclude_none=True) if self.event else None
        return {
            "event": event,
            "node": self.node.model_dump(mode="json"),
            "moment": format_time(self.moment),
            "known": self.known,
            "policies": [verdict.document() for verdict in self.verdicts],
        }


@dataclass(frozen=True)
class World:
    """What is in force: ``accepted`` policies, those that are off among them, switches, who runs which cluster."""

    accepted: Sequence[AcceptedPolicy]
    switches: Switches = ALL_ACTIVE
    orchestrators: Mapping[str, Orchestrator] | None = None
    facts: Facts = NOTHING_KNOWN

    def rules_for(self, cluster: str) -> Rules:
        """Return coordinate's rules; a cluster that nobody told of is taken for one on EKS."""
        return Rules({cluster: Orchestrator.EKS, **(self.orchestrators or {})})


def explain(
    deliveries: Sequence[Delivery], *, state: str, world: World, now: datetime | None = None
) -> list[Explained]:
    """Return what each policy made of each event of *deliveries*, decided at *now*, or (None) as each arrived.

    *state* is that of the first one's node; of other nodes, and of counts over many nodes, nothing is known before.
    """
    rulebook = compile_policies(world.accepted)
    states = {one.parsed.envelope.node.instance_id: state for one in deliveries[:1]}
    windows: dict[str, Window] = {}
    told: list[Explained] = []
    clock = now
    for step, event in (pair for delivery in deliveries for pair in _steps(delivery)):
        node = step.parsed.envelope.node
        before = states.get(node.instance_id, "")
        clock = now or max(clock or step.arrived_at, step.arrived_at)
        judged = evaluate([step], state=before, rulebook=rulebook, now=clock, snapshot=world.facts)
        states[node.instance_id] = judged.state
        findings = list(judged.findings)
        for heard in hear(windows, judged.contributions, node.cluster, clock):
            windows[heard.counted.window.key] = heard.counted.window
            findings += heard.findings
        known = event is not None and judged.events == 0
        cancelled = frozenset(each.policy for each in judged.cancellations)
        after = _After(world, rulebook, judged.state, clock, dict(windows), cancelled)
        told.append(_explained(step, event, findings, after, known=known))
    return told


def look_back(
    event: FaultEvent,
    node: NodeIdentity,
    *,
    state: str,
    world: World,
    now: datetime,
    windows: Mapping[str, Window] | None = None,
) -> Explained:
    """Return how each policy stands to an *event* that was judged: *state* and *windows* count it already."""
    after = _After(world, compile_policies(world.accepted), state, now, windows or {})
    facts = NodeFacts(node, world.facts)
    return Explained(event, node, event.observed_at, known=True, verdicts=after.verdicts(event, facts, (), known=True))


def _steps(delivery: Delivery) -> Iterator[tuple[Delivery, FaultEvent | None]]:
    """Yield the envelope as it would be after each of its events: those before are repeats then."""
    parsed, envelope = delivery.parsed, delivery.parsed.envelope
    if not envelope.events:
        yield delivery, None
    for at, event in enumerate(envelope.events, 1):
        part = envelope.model_copy(update={"events": envelope.events[:at]})
        rejected = parsed.rejected if at == len(envelope.events) else ()
        yield delivery._replace(parsed=ParsedEnvelope(part, rejected)), event


def _explained(
    step: Delivery, event: FaultEvent | None, findings: Sequence[Finding], after: "_After", *, known: bool
) -> Explained:
    envelope = step.parsed.envelope
    node = NodeFacts(envelope.node, after.world.facts)
    clock = ClockCorrection(envelope.sent_at, step.arrived_at)
    seen = event.observed_at if event else envelope.sent_at
    moment = from_ms(clock.moment_ms(seen))
    return Explained(event, envelope.node, moment, known, after.verdicts(event, node, findings, known=known))


@dataclass(frozen=True)
class _After:
    """The state once an event was judged."""

    world: World
    rulebook: Rulebook
    state: str
    now: datetime
    windows: Mapping[str, Window]
    cancelled: frozenset[str] = frozenset()

    def verdicts(
        self, event: FaultEvent | None, node: NodeFacts, findings: Sequence[Finding], *, known: bool
    ) -> tuple[Verdict, ...]:
        rules = {rule.name: rule for rule in self.rulebook.rules}
        named = sorted(self.world.accepted, key=lambda one: one.policy.name)
        return tuple(
            self._verdict(rules.get(one.policy.name), one, event, node, findings, known=known) for one in named
        )

    def _verdict(
        self,
        rule: Rule | None,
        accepted: AcceptedPolicy,
        event: FaultEvent | None,
        node: NodeFacts,
        findings: Sequence[Finding],
        *,
        known: bool,
    ) -> Verdict:
        policy = accepted.policy
        if rule is None:
            return Verdict(policy.name, accepted.revision, PolicyMode.OFF, Outcome.OFF, "it is off: nobody asks it")
        mine = tuple(finding for finding in findings if finding.policy.name == policy.name)
        when = ask(policy.when, event, node) if event else None
        unless = ask(policy.unless, event, node) if event and policy.unless is not None else None
        standing = self._standing(rule, event, node, mine) if mine or _counts(when, unless) else None
        outcome, reason = _outcome(rule, event, node, when, unless, standing, mine)
        if policy.name in self.cancelled and not mine:
            outcome, reason = Outcome.CANCELS, "it takes the reason away: what settles for it is called off"
        again = "counted when it first came, and not again: " if known and standing and not mine else ""
        then = tuple(self._then(finding, event) for finding in mine)
        known_facts = known_of(rule.facts, event, node)
        return Verdict(
            policy.name,
            accepted.revision,
            policy.mode,
            outcome,
            f"{again}{reason}",
            when,
            unless,
            standing,
            mine,
            then,
            known_facts,
        )

    def _standing(
        self, rule: Rule, event: FaultEvent | None, node: NodeFacts, mine: Sequence[Finding]
    ) -> Standing | None:
        if rule.wide is not None:
            scope = scope_key(rule.wide.per, node.identity, event.job if event else None)
            known = self.windows.get(window_key(rule.name, scope)) if scope else None
            return wide_standing(known, rule.wide, scope, _value(rule, event, node)) if scope else None
        state = NodeState.load(self.state)
        if state is None:
            return None
        component = mine[0].component if mine else event.component if event else None
        scope = "node" if rule.per_node else scope_of(component)
        return standing_of(state, rule, scope, self.now, _value(rule, event, node))

    def _in_hand(self, finding: Finding, event: FaultEvent | None) -> str:
        """Coordinate looks for itself, and knows who has the node and why; here it is what facts say."""
        known = event is not None and self.world.facts.read(IN_MAINTENANCE, event, finding.node)
        return f"{finding.node.instance_id} is in maintenance" if known is True else ""

    def _then(self, finding: Finding, event: FaultEvent | None) -> str:
        rules = self.world.rules_for(finding.node.cluster)
        layout = lay_out_finding(finding, rules)
        held = self.world.switches.why_not(finding.policy.name) or (layout.acts and self._in_hand(finding, event)) or ""
        reason = why_nobody_acts(finding, layout, Why(held), self.now)
        if reason:
            return f"it is recorded: {reason}"
        waits = f"after {finding.policy.settle_seconds:g} s " if finding.policy.settle_seconds else ""
        approved = "once a person approves " if finding.policy.approval else ""
        rungs = " → ".join(each.rung for each in layout.rungs)
        return f"it opens an incident (or joins the node's): {waits}{approved}{rungs}"


def _value(rule: Rule, event: FaultEvent | None, node: NodeFacts) -> str:
    return "" if rule.same is None or event is None else value_of(rule.same(event, node)) or ""


def _counts(when: Asked | None, unless: Asked | None) -> bool:
    return when is not None and when.answer is True and not (unless is not None and unless.answer is True)


def _outcome(
    rule: Rule,
    event: FaultEvent | None,
    node: NodeFacts,
    when: Asked | None,
    unless: Asked | None,
    standing: Standing | None,
    mine: Sequence[Finding],
) -> tuple[Outcome, str]:
    if mine:
        late = "; it is late: old events inform and never act by themselves" if mine[0].late else ""
        return Outcome.FIRED, f"{standing}{late}" if standing else f"it fired{late}"
    if event is None or when is None:
        return Outcome.NO_MATCH, "a heartbeat tells it nothing"
    if not _counts(when, unless):
        return _unmet(when, unless)
    missing = _missing(rule, event, node)
    if missing:
        return Outcome.UNANSWERED, f"what {missing} asks for is not there"
    if rule.wide is not None and standing is None:
        return Outcome.UNANSWERED, f"it counts per {rule.wide.per}, which nobody knows here"
    return _counted(standing)


def _missing(rule: Rule, event: FaultEvent, node: NodeFacts) -> str:
    if not rule.dwell and rule.distinct is not None and rule.distinct(event, node) is None:
        return "count.distinct"
    return "count.same" if rule.same is not None and not _value(rule, event, node) else ""


def _unmet(when: Asked, unless: Asked | None) -> tuple[Outcome, str]:
    if when.answer is not True or unless is None:
        outcome = Outcome.UNANSWERED if when.answer is None else Outcome.NO_MATCH
        return outcome, "; ".join(str(part) for part in when.decisive())
    return Outcome.EXCEPTED, "unless " + "; ".join(str(part) for part in unless.decisive())


def _counted(standing: Standing | None) -> tuple[Outcome, str]:
    if standing is None:
        return Outcome.WAITS, "the node's state cannot be read"
    if standing.told and standing.is_reached:
        return Outcome.TOLD, f"{standing}. A finding was told of this already; the next one comes once it is over"
    return Outcome.WAITS, str(standing)
