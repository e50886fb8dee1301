"""Why a node is left as it is, whatever its policy wants: a person has it in hand, or nothing would take its place.

Decides both from what was read of maintenance and capacity, and says which of that a decision needs. While a person
works on a node nothing is done to it. A node that still serves is not given up where nothing would come for its type;
one that serves no more may go first, since its slot is free only then. What nobody knows holds nothing back. It must
not know how an incident ends for it.
"""

from collections.abc import Collection, Iterator
from datetime import datetime

from policies.contract.decisions import AnyMessage, Finding, findings_in
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Kind, PolicyMode
from policies.coordination.about_runs import is_of_a_run
from policies.coordination.denying import is_recorded_for_a_no
from policies.coordination.incident import Incident
from policies.coordination.plan import Layout
from policies.coordination.snapshot import Snapshot
from policies.coordination.states import IncidentStatus
from policies.coordination.storms import is_of_a_scope
from policies.facts.capacity import why_none
from policies.facts.maintenance import why_in_maintenance

# What a run goes on with: a limit reached, a part that is slow, a fault that was corrected, a date that was told. All
# else took a GPU, a link, a disk or the machine from the run, which then stands still whether the node is kept or not.
STILL_SERVES = frozenset({
    Kind.GPU_ECC_CORRECTED,
    Kind.GPU_SRAM_THRESHOLD_EXCEEDED,
    Kind.GPU_ROW_REMAP_PENDING,
    Kind.GPU_PAGE_RETIREMENT_PENDING,
    Kind.GPU_SLOWDOWN,
    Kind.GPU_OVERHEATED,
    Kind.GPU_PCIE_DEGRADED,
    Kind.PCIE_CORRECTED,
    Kind.HOST_MEMORY_CORRECTED,
    Kind.HOST_MEMORY_LEAK,
    Kind.HOST_CLOCK_UNSYNCHRONISED,
    Kind.NETWORK_PORT_ERRORS,
    Kind.NETWORK_LINK_FLAPPING,
    Kind.TRAINING_STRAGGLER,
    Kind.INSTANCE_RETIREMENT_SCHEDULED,
    Kind.INSTANCE_MAINTENANCE_SCHEDULED,
    Kind.INSTANCE_REBALANCE_RECOMMENDED,
})  # fmt: skip
KEPT = "kept"  # the fact that says why an incident's node is kept


def nodes_to_ask(snapshot: Snapshot, messages: Collection[AnyMessage]) -> frozenset[str]:
    """Return the instances of which a decision must know whether a person has them in hand."""
    told = {finding.node.instance_id for finding in _active(messages) if is_of_a_node(finding.generation)}
    may_move = (each for each in snapshot.incidents.values() if each.status.is_running or is_recorded_for_a_no(each))
    return frozenset(told | {each.node.instance_id for each in may_move if is_of_a_node(each.generation)})


def asks_capacity(snapshot: Snapshot) -> bool:
    """Whether a decision must know what the cluster could get."""
    return any(each.status is IncidentStatus.SETTLING and _gives_up(each) for each in snapshot.incidents.values())


def why_left_alone(snapshot: Snapshot, instance_id: str, generation: str, now: datetime) -> str:
    """Return why nothing is done to that node now, empty when a person has not got it in hand."""
    found = snapshot.maintenance.get(instance_id) if is_of_a_node(generation) else None
    return f"{instance_id} {why_in_maintenance(found)}" if found and now < found.until else ""


def why_finding_rests(snapshot: Snapshot, finding: Finding, layout: Layout, now: datetime) -> str:
    """Return why nothing is done for *finding*: of one that only tells something nothing is held back."""
    return why_left_alone(snapshot, finding.node.instance_id, finding.generation, now) if layout.acts else ""


def why_kept(snapshot: Snapshot, incident: Incident, now: datetime) -> str:
    """Return why the node of *incident*, which would give it up, goes on as it is; empty when it may be given up."""
    kinds = {note.kind for note in incident.findings if not note.late}
    serves = _gives_up(incident) and kinds <= STILL_SERVES
    why = why_none(snapshot.capacity, now, incident.node.instance_type) if serves else ""
    return (
        f"the node serves still and is kept: {why}; once something can take its place, it may be given up"
        if why
        else ""
    )


def as_kept(incident: Incident, why: str) -> Incident:
    """Return *incident* with the fact that its node is kept, if it is."""
    return incident.model_copy(update={"facts": {**incident.facts, KEPT: why}}) if why else incident


def is_kept(incident: Incident) -> bool:
    """Whether *incident* is parked since nothing would have taken its node's place, and has touched nothing."""
    return incident.status is IncidentStatus.PARKED and KEPT in incident.facts and not incident.acted


def takes_over(finding: Finding, holder: Incident) -> bool:
    """Whether *finding* says that the node which *holder* keeps serves no more: then it may go, whatever would come."""
    return is_kept(holder) and finding.kind not in STILL_SERVES and not finding.late


def is_of_a_node(generation: str) -> bool:
    """Whether that is the lease of a node, not of a run or a scope."""
    return not is_of_a_run(generation) and not is_of_a_scope(generation)


def _gives_up(incident: Incident) -> bool:
    return any(each.rung is Rung.REPLACE_NODE for each in incident.rungs) and is_of_a_node(incident.generation)


def _active(messages: Collection[AnyMessage]) -> Iterator[Finding]:
    return (each for each in findings_in(messages) if each.policy.mode is PolicyMode.ACTIVE)
