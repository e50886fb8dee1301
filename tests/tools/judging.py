"""One call of the evaluator as tests of it make it: some deliveries, a plain rulebook, a moment."""

from collections.abc import Mapping

from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType
from policies.evaluator import Delivery, Evaluation, evaluate
from policies.facts.snapshot import StatedFacts
from policies.rulebook import Rulebook
from tests.tools.envelopes import at, rules

OTHER_GPU = Component(type=ComponentType.GPU, pci="0000:64:00")


def judge(
    *deliveries: Delivery,
    state: str = "",
    rulebook: Rulebook | None = None,
    now: float = 1,
    snapshot: Mapping[str, Scalar] | None = None,
) -> Evaluation:
    facts = StatedFacts(snapshot)
    return evaluate(deliveries, state=state, rulebook=rulebook or rules(), now=at(now), snapshot=facts)


def ids(found: Evaluation) -> list[str]:
    return [finding.id for finding in found.findings]
