"""Which of what was seen belongs into an example of a policy.

Decides what a policy asks about: what its condition meets or cannot answer, whatever its exception says of it, and what
takes its reason away; of which nodes, and how long before. It must not mask or count.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from policies.contract.recoveries import ended_by
from policies.coordination.incident import Incident
from policies.coordination.notes import FindingNote
from policies.examples import switched_on
from policies.expressions.expression import Expression
from policies.expressions.members import NodeFacts
from policies.expressions.tokens import tokenise
from policies.facts.snapshot import Facts
from policies.model import Policy
from policies.moments import earlier, later
from policies.recording.sightings import Sighting
from policies.rulebook import Rule, compile_policies
from policies.scopes import WIDE, scope_key

# A settling incident waits for what shows elsewhere, and for what calls it off: no policy settles longer than an hour,
# and what is about one cause comes within minutes.
AFTERWARDS = timedelta(minutes=2)
SLACK = timedelta(seconds=5)  # clocks are corrected in steps of two seconds (clock_correction.py)
DRIVER = "node.driver_version"


def notes_of(incident: Incident, policy: Policy) -> list[FindingNote]:
    """Return the findings of *policy* in *incident*, oldest first."""
    return sorted((each for each in incident.findings if each.policy == policy.name), key=lambda one: one.observed_at)


def period_of(incident: Incident, policy: Policy) -> tuple[datetime, datetime]:
    """Return from when to when events may matter to *policy*: since the first that its findings counted.

    Where it found nothing, that is as long before the incident as it counts.
    """
    notes = notes_of(incident, policy)
    if notes:
        first, last = min(each.first_observed_at for each in notes), max(each.observed_at for each in notes)
    else:
        seen = [each.observed_at for each in incident.findings] or [incident.opened_at]
        before = timedelta(seconds=max(policy.count.within, policy.dwell or 0.0))
        first, last = earlier(min(seen), before), max(seen)
    return earlier(first, SLACK), later(last, max(AFTERWARDS, timedelta(seconds=policy.settle)))


def of_the_same(incident: Incident, policy: Policy, seen: Iterable[Sighting]) -> list[Sighting]:
    """Return what was *seen* on the incident's nodes; where *policy* counts wider, of all in that scope."""
    per = next((each for each in WIDE if each == policy.count.per), None)
    mine = [one for one in seen if one.node.cluster == incident.cluster]
    if per is not None:
        scope = incident.node.instance_id if _is_scope(incident) else scope_key(per, incident.node, incident.job)
        return [one for one in mine if scope_key(per, one.node, one.event.job) == scope]
    noted = {each.node for each in notes_of(incident, policy) if each.node}
    nodes = noted or {incident.node.instance_id}
    return [one for one in mine if one.node.instance_id in nodes]


def asked_about(policy: Policy, seen: Iterable[Sighting], facts: Facts) -> list[Sighting]:
    """Return those of *seen* that *policy* asks about."""
    rulebook = compile_policies([switched_on(policy)])
    (rule,) = rulebook.rules
    found = []
    for one in seen:
        over = (each for kind in ended_by(one.event) for each in rulebook.healed_by(kind))
        if _asks(rule, one, facts) or any(over):
            found.append(one)
    return found


def words_of(policy: Policy) -> frozenset[str]:
    """Return the texts that the conditions of *policy* compare with."""
    texts = filter(None, (policy.when, policy.unless, policy.cancel_when))
    found = (token.value for text in texts for token in tokenise(text) if token.kind == "string")
    return frozenset(value for value in found if isinstance(value, str))


def asks_driver(policy: Policy) -> bool:
    """Whether the version of the node's driver matters to *policy*."""
    texts = filter(None, (policy.when, policy.unless, policy.cancel_when, policy.count.same, policy.count.distinct))
    return any(DRIVER in text for text in texts)


def _asks(rule: Rule, one: Sighting, facts: Facts) -> bool:
    node = NodeFacts(one.node, facts)
    return _may_hold(rule.when, one, node) or (rule.cancel_when is not None and _may_hold(rule.cancel_when, one, node))


def _may_hold(condition: Expression, one: Sighting, node: NodeFacts) -> bool:
    return condition.ask(one.event, node) is not False


def _is_scope(incident: Incident) -> bool:
    name = incident.node.instance_id
    return name == "cluster" or name.partition(":")[0] in WIDE
