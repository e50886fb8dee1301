"""Runs the examples that a policy brings along, by the very code that judges real events.

Decides whether a policy does what its author says it does. It must not know other policies: an example is about one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from policies.contract.envelope import Envelope, NodeIdentity, ParsedEnvelope
from policies.contract.events import FaultEvent
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import PolicyMode, Source
from policies.coordination.contributing import hear
from policies.coordination.windows import Window
from policies.evaluator import Delivery, Refused, evaluate
from policies.facts.snapshot import Facts, StatedFacts
from policies.model import Example, ExampleEvent, Policy
from policies.problems import Problem
from policies.rulebook import AcceptedPolicy, Rulebook, compile_policies

HEARTBEAT_SECONDS = 30  # as agents send them
CLUSTER = "example"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)  # any moment will do
# Envelopes of all examples of a policy. The guard tries them while other edits wait behind, `off` among them: so many
# take it two or three seconds with the third of a processor that it has (measured: 25 to 40 µs each on a whole one).
MOST_ENVELOPES = 20_000


@dataclass(frozen=True)
class Outcome:
    """How one example ended: ``found`` findings, and which conditions could not be answered on the way."""

    index: int
    example: Example
    found: int
    unanswered: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether it ended as it says."""
        return self.found == self.example.findings


def outcomes(policy: Policy) -> list[Outcome]:
    """Return how each example of *policy* ends."""
    rulebook = compile_policies([switched_on(policy)])
    found = []
    for index, example in enumerate(policy.examples):
        number, refused = _judge(tell(example), rulebook, StatedFacts(example.facts))
        unanswered = dict.fromkeys(f"{one.field}: {one.path} {one.reason}" for one in refused)
        found.append(Outcome(index, example, number, tuple(unanswered)))
    return found


def run_examples(policy: Policy) -> list[Problem]:
    """Return a problem for each example of *policy* that ends otherwise than it says, or one if they are too long."""
    envelopes = sum(_envelopes(example) for example in policy.examples)
    if envelopes > MOST_ENVELOPES:
        reason = f"are {envelopes} envelopes with their nodes' heartbeats; at most {MOST_ENVELOPES} are tried."
        return [Problem.of("examples", reason, "Fewer nodes, or a shorter `until`, show the same.")]
    return [_problem(one) for one in outcomes(policy) if not one.passed]


def switched_on(policy: Policy) -> AcceptedPolicy:
    """Return *policy* as it is tried: its examples say what it decides, whatever its mode."""
    return AcceptedPolicy(policy.model_copy(update={"mode": PolicyMode.ACTIVE}), 1, "example")


def _problem(one: Outcome) -> Problem:
    reason = f"says {one.example.findings} findings, but {one.found} come out ({one.example.says})."
    return Problem.of(f"examples.{one.index}", reason, "; ".join(one.unanswered) or "Mend the policy or the example.")


def _judge(deliveries: Sequence[Delivery], rulebook: Rulebook, facts: Facts) -> tuple[int, list[Refused]]:
    """Return how many findings come out, batch by batch as time goes on, and what could not be answered.

    What nodes contribute to a wider count is counted as coordinate does.
    """
    states, windows = dict[str, str](), dict[str, Window]()
    found, refused = 0, list[Refused]()
    for delivery in deliveries:
        node, now = delivery.parsed.envelope.node.instance_id, delivery.arrived_at
        judged = evaluate([delivery], state=states.get(node, ""), rulebook=rulebook, now=now, snapshot=facts)
        states[node], found = judged.state, found + len(judged.findings)
        for heard in hear(windows, judged.contributions, CLUSTER, now):
            windows[heard.counted.window.key] = heard.counted.window
            found += len(heard.findings)
        refused += judged.refused
    return found, refused


def tell(example: Example) -> list[Delivery]:
    """Return the events in the order of time, and the heartbeats between and after them."""
    story = sorted(enumerate(example.events), key=lambda told: (told[1].after, told[0]))
    told = [_deliver(_node(example, event), seq, event) for seq, (_place, event) in enumerate(story)]
    nodes = {event.node: _node(example, event) for _place, event in reversed(story)}
    moments = [BEGIN + timedelta(seconds=at) for at in range(0, int(example.until) + 1, HEARTBEAT_SECONDS)]
    beats = [_beat(node, moment) for node in nodes.values() for moment in moments]
    return sorted([*told, *beats], key=lambda one: one.arrived_at) if example.until else told


def _envelopes(example: Example) -> int:
    """Return how many envelopes `tell` makes."""
    beats = int(example.until) // HEARTBEAT_SECONDS + 1 if example.until else 0
    return len(example.events) + beats * len({event.node for event in example.events})


def _node(example: Example, event: ExampleEvent) -> NodeIdentity:
    """Return the node of *event*."""
    return NodeIdentity(
        cluster=CLUSTER,
        name=event.node,
        instance_id=f"i-{event.node.removeprefix('node-')}",
        instance_type=example.instance_type,
        driver_version=example.driver_version,
        network_path=path_of(event.rack),
    )


def path_of(rack: str) -> tuple[str, ...]:
    """Return where in the network a node of *rack* is: a rack is under a switch, and that under the spine."""
    return ("spine", f"switch-of-{rack}", rack) if rack else ()


def _beat(node: NodeIdentity, moment: datetime) -> Delivery:
    return Delivery(ParsedEnvelope(Envelope(node=node, spool_id="example", first_seq=0, sent_at=moment)), moment)


def _deliver(node: NodeIdentity, seq: int, told: ExampleEvent) -> Delivery:
    moment = BEGIN + timedelta(seconds=told.after)
    event = event_of(told, seq, moment)
    envelope = Envelope(node=node, spool_id="example", first_seq=seq, sent_at=moment, events=(event,))
    return Delivery(ParsedEnvelope(envelope), moment)


def event_of(told: ExampleEvent, seq: int, moment: datetime) -> FaultEvent:
    """Return the whole event that a few words stand for, as it happens at *moment*."""
    return FaultEvent(
        id=stable_id("example", seq),
        seq=seq,
        kind=told.kind,
        severity=told.severity,
        source=Source.KERNEL_LOG,
        observed_at=moment,
        first_observed_at=moment,
        count=told.count,
        component=told.component,
        job=told.job,
        attributes=told.attributes,
        message=told.message,
    )
