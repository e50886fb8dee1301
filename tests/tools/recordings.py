"""Incidents for `relight policy record`: what a policy finds in a story of its own, as coordinate would keep it."""

from collections.abc import Sequence

from policies.contract.decisions import Finding
from policies.coordination.contributing import hear
from policies.coordination.incident import Incident
from policies.coordination.notes import FindingNote
from policies.coordination.windows import Window
from policies.evaluator import Delivery, evaluate
from policies.examples import switched_on, tell
from policies.facts.snapshot import StatedFacts
from policies.model import Example, Policy
from policies.recording.choosing import of_the_same, period_of
from policies.recording.sightings import Sighting, sightings_of
from policies.rulebook import compile_policies
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import findings as message_of


def findings_in(policy: Policy, deliveries: Sequence[Delivery], example: Example) -> list[Finding]:
    """What *policy* finds in *deliveries*, those that count over many nodes among them."""
    rulebook = compile_policies([switched_on(policy)])
    states, windows, found = dict[str, str](), dict[str, Window](), list[Finding]()
    for one in deliveries:
        node = one.parsed.envelope.node
        before, facts = states.get(node.instance_id, ""), StatedFacts(example.facts)
        judged = evaluate([one], state=before, rulebook=rulebook, now=one.arrived_at, snapshot=facts)
        states[node.instance_id] = judged.state
        found += judged.findings
        for heard in hear(windows, judged.contributions, node.cluster, one.arrived_at):
            windows[heard.counted.window.key] = heard.counted.window
            found += heard.findings
    return found


def incident_of(found: Sequence[Finding]) -> Incident:
    """The incident that keeps all of them."""
    table = DecisionTable()
    here = [each.model_copy(update={"node": each.node.model_copy(update={"cluster": "west"})}) for each in found]
    table.take(0, message_of(here[0]))
    notes = tuple(FindingNote.of(each) for each in found)
    return table.incidents[0].model_copy(
        update={"findings": notes, "cluster": found[0].node.cluster, "node": found[0].node}
    )


def seen_in(incident: Incident, policy: Policy, deliveries: Sequence[Delivery]) -> list[Sighting]:
    """What an archive of *deliveries* has to say of *incident*."""
    since, until = period_of(incident, policy)
    of_it = of_the_same(incident, policy, sightings_of(deliveries))
    return [one for one in of_it if since <= one.moment <= until]


def happened(policy: Policy, example: Example) -> tuple[Incident, list[Delivery]]:
    """The incident that the story of *example* makes, and all that arrived."""
    deliveries = tell(example)
    return incident_of(findings_in(policy, deliveries, example)), deliveries
