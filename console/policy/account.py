"""What `relight policy explain` reads of a deployed stack, whoever built it: AWS (`connect`) or twins (tests).

Decides what an incident or a node is explained by: the policies in force, the switches, the node's state, the budgets.
It must not print or write.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from console.incident.finding import Wish, find_all, find_one
from console.incident.parts import IncidentError, Parts
from console.incident.ports import Incidents
from console.policy.facts import read_facts, why_in_hand
from functions.ports.coordination import SwitchReader
from functions.ports.facts import FactReader
from functions.ports.policies import PolicyHeads
from functions.ports.triage import NodeKey, NodeStates
from policies.contract.vocabulary import PolicyMode
from policies.coordination.denying import standing_of
from policies.coordination.incident import Incident
from policies.coordination.limits import limits_of
from policies.coordination.notes import FindingNote
from policies.coordination.snapshot import Keys, Snapshot
from policies.coordination.windows import window_key
from policies.explain.explaining import Explained, World, look_back
from policies.explain.incidents import events_of
from policies.explain.known import Known
from policies.explain.limits import LimitStanding, limit_standings
from policies.explain.trust import TrustStanding, trust_standing
from policies.explain.verdicts import Outcome, Verdict
from policies.loader import load_stored
from policies.model import Policy
from policies.rulebook import AcceptedPolicy
from policies.scopes import WIDE, scope_key

MOST_EVENTS = 8


class Budgets(Protocol):
    """Coordinate's store, read only."""

    def read(self, cluster: str, keys: Keys) -> Snapshot:
        """Return the documents that *keys* name."""
        ...


@dataclass(frozen=True)
class Account:
    """The tables of one stack, read only."""

    clusters: Sequence[str]
    incidents: Incidents
    heads: PolicyHeads
    switches: SwitchReader
    states: NodeStates
    budgets: Budgets
    facts: FactReader
    clock: Callable[[], datetime]


@dataclass(frozen=True)
class Told:
    """One incident, its events (newest first) as each policy sees them, and where its limits stand.

    ``in_hand`` says who has its node in hand now, and why; empty when nobody has. ``trust`` is how far its policy is
    trusted. ``denied`` says who wants nothing done for it, and until when; empty when nobody does. ``halted`` says why
    its policy takes nothing away now (all is stopped, it is off or in shadow); empty when it may, or all is over.
    """

    incident: Incident
    events: Sequence[Explained]
    limits: Sequence[LimitStanding]
    in_hand: str = ""
    trust: TrustStanding | None = None
    denied: str = ""
    halted: str = ""


def explain_incident(account: Account, wanted: str, days: int) -> Told:
    """Return why the policies answered as they did to what the incident *wanted* (an id's beginning) is about."""
    return _told(account, find_one(as_parts(account), wanted, days))


def explain_node(account: Account, node: str, days: int) -> Sequence[Incident]:
    """Return the incidents of *node* (instance id or name), newest first; IncidentError when there is none."""
    found = find_all(as_parts(account), Wish(closed=True, node=node, days=days))
    if not found:
        hint = "So no policy fired for it: `relight policy explain --event FILE` says why, for one event."
        raise IncidentError(f"no incident of the last {days} days is about {node!r}.", hint=hint)
    return sorted(found, key=lambda each: each.opened_at, reverse=True)


def _told(account: Account, incident: Incident) -> Told:
    now = account.clock()
    key = NodeKey(incident.cluster, incident.node.instance_id)
    state = account.states.load([key], now)[key].text
    accepted = in_force(account.heads)
    events = events_of(incident)[:MOST_EVENTS]
    facts = read_facts(account.facts, events, incident.node, now)
    world = World(accepted, account.switches.read([one.policy.name for one in accepted]), facts=facts)
    keys = Keys(
        budgets=frozenset(limits_of(incident)),
        windows=_windows(accepted, incident),
        records=frozenset({incident.policy.name}),
        leases=frozenset({incident.generation}),
    )
    counted = account.budgets.read(incident.cluster, keys)
    explained = [
        look_back(event, incident.node, state=state, world=world, now=now, windows=counted.windows) for event in events
    ]
    limits = limit_standings(incident, counted.budgets, now)
    in_hand = why_in_hand(account.facts, incident.node, now)
    trust = trust_standing(incident, counted.records.get(incident.policy.name), world.switches, now)
    denied = standing_of(counted.leases.get(incident.generation), incident, now)
    halted = world.switches.why_not(incident.policy.name, begun=incident.acted) if incident.status.is_open else ""
    return Told(
        incident, [_with_findings(each, incident) for each in explained], limits, in_hand, trust, denied, halted
    )


def _windows(accepted: Sequence[AcceptedPolicy], incident: Incident) -> frozenset[str]:
    """Return the windows over many nodes that the incident's events may count in."""
    wide = [(one.policy.name, per) for one in accepted for per in WIDE if one.policy.count.per == per]
    scopes = ((name, scope_key(per, incident.node, incident.job)) for name, per in wide)
    return frozenset(window_key(name, scope) for name, scope in scopes if scope is not None)


def _with_findings(explained: Explained, incident: Incident) -> Explained:
    """What is in the incident fired, though the node's state may have forgotten it by now."""
    fired = {note.policy: note for note in incident.findings if note.observed_at == explained.moment}
    verdicts = (_fired(each, fired[each.policy]) if each.policy in fired else each for each in explained.verdicts)
    return replace(explained, verdicts=tuple(verdicts))


def _fired(verdict: Verdict, note: FindingNote) -> Verdict:
    """The facts are those that it was decided by; what they are now stands in the parts of its conditions."""
    asked = (*verdict.facts.values, *verdict.facts.unknown) if verdict.facts else ()
    facts = Known.of(asked, note.facts) if note.facts else verdict.facts
    reason = f"it fired: its finding is part of this incident. Asked again now, it says: {verdict.reason}"
    return replace(verdict, outcome=Outcome.FIRED, reason=reason, facts=facts)


def in_force(heads: PolicyHeads) -> Sequence[AcceptedPolicy]:
    """Return the policies in force, those that are off among them; what cannot be read is left out, as in triage."""
    found = []
    headings = heads.headings()
    known = heads.heads([heading.name for heading in headings])
    for heading in headings:
        head = known.get(heading.name)
        loaded = load_stored(head.document) if head else None
        if head and isinstance(loaded, Policy):
            mode = PolicyMode.OFF if head.mode is PolicyMode.OFF else loaded.mode
            found.append(AcceptedPolicy(loaded.model_copy(update={"mode": mode}), head.revision, head.hash))
    return found


def as_parts(account: Account) -> Parts:
    """Return what incidents are found by; nothing can be sent with it."""
    return Parts(account.clusters, account.incidents, _Nowhere(), account.clock, lambda _seconds: None)


class _Nowhere:
    """Nothing is sent from here."""

    def send(self, message: object, at: datetime) -> None:
        raise IncidentError(f"nothing is closed here ({type(message).__name__} at {at:%H:%M}).", hint="")


def connect(stack: str, region: str | None) -> Account:
    """Find *stack* and return its tables. RelightError says what is missing."""
    from console import aws
    from console.dlq.adapters.asking import asking
    from console.dlq.adapters.stacks import CloudFormationStacks
    from console.incident.adapters.incidents import DynamoIncidents
    from functions.adapters.coordination import DynamoDBCoordinationStore
    from functions.adapters.facts import DynamoFacts
    from functions.adapters.node_states import DynamoNodeStates
    from functions.adapters.policies import DynamoPolicies
    from functions.adapters.switches import DynamoSwitches

    with asking("connecting to AWS"):
        session = aws.session(region)
        found = CloudFormationStacks(session.client("cloudformation")).find(stack)
        client = session.client("dynamodb")
        fleet, incidents, policies = (found.output(f"{name}Table") for name in ("Fleet", "Incidents", "Policies"))
    return Account(
        clusters=found.output("Clusters").split(","),
        incidents=DynamoIncidents(client, incidents),
        heads=DynamoPolicies(client, policies),
        switches=DynamoSwitches(client, policies),
        states=DynamoNodeStates(client, fleet),
        budgets=DynamoDBCoordinationStore(client, fleet_table=fleet, incidents_table=incidents),
        facts=DynamoFacts(client, fleet),
        clock=lambda: datetime.now(UTC),
    )
