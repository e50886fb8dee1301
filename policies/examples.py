"""Runs the examples that a policy brings along, by the very code that judges real events.

Decides whether a policy does what its author says it does. It must not know other policies: an example is about one.
"""

from datetime import UTC, datetime, timedelta

from policies.contract.envelope import Envelope, NodeIdentity, ParsedEnvelope
from policies.contract.events import FaultEvent
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import PolicyMode, Source
from policies.evaluator import Delivery, evaluate
from policies.model import Example, ExampleEvent, Policy
from policies.problems import Problem
from policies.rulebook import AcceptedPolicy, compile_policies

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)  # any moment will do


def run_examples(policy: Policy) -> list[Problem]:
    """Return a problem for each example of *policy* that ends otherwise than it says."""
    switched_on = policy.model_copy(update={"mode": PolicyMode.ACTIVE})
    rulebook = compile_policies([AcceptedPolicy(switched_on, 1, "example")])
    problems = []
    for index, example in enumerate(policy.examples):
        deliveries = _tell(example)
        judged = evaluate(deliveries, state="", rulebook=rulebook, now=deliveries[-1].arrived_at)
        if len(judged.findings) != example.findings:
            reason = f"says {example.findings} findings, but {len(judged.findings)} come out ({example.says})."
            hint = "; ".join(f"{one.field}: {one.path} {one.reason}" for one in judged.refused)
            problems.append(Problem.of(f"examples.{index}", reason, hint or "Mend the policy or the example."))
    return problems


def _tell(example: Example) -> list[Delivery]:
    node = NodeIdentity(cluster="example", name="node-1", instance_id="i-1", instance_type=example.instance_type)
    story = sorted(enumerate(example.events), key=lambda told: (told[1].after, told[0]))
    return [_deliver(node, seq, event) for seq, (_place, event) in enumerate(story)]


def _deliver(node: NodeIdentity, seq: int, told: ExampleEvent) -> Delivery:
    moment = BEGIN + timedelta(seconds=told.after)
    event = FaultEvent(
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
    envelope = Envelope(node=node, spool_id="example", first_seq=seq, sent_at=moment, events=(event,))
    return Delivery(ParsedEnvelope(envelope), moment)
