"""Findings about a scope wider than a node that nobody acts on: one storm is one incident and is told once.

Such an incident is closed as soon as it is recorded; its lease is on policy and scope, and says until when the same
storm was told of. Whatever comes within an hour of that is one more note. What another revision finds, one that may
page by now, or comes after everything was stopped, is told anew. It must not decide what is told.
"""

from datetime import timedelta

from policies.alike import with_value
from policies.contract.decisions import Finding
from policies.contract.vocabulary import RECORDED
from policies.coordination import leases
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.working import Working

STORM_SECONDS = 3600.0  # nobody is paged twice an hour for what 700 nodes say of one file server
_PREFIX = "scope#"


def generation_of_scope(policy: str, scope: str, value: str = "") -> str:
    """Return the name under which what *policy* finds in *scope* is leased, beside the generations of nodes.

    What agrees in another *value* of `count.same` is another storm.
    """
    return with_value(f"{_PREFIX}{policy}#{scope}", value)


def is_of_a_scope(generation: str) -> bool:
    """Whether that is the lease of a scope wider than a node."""
    return generation.startswith(_PREFIX)


def tells_of_a_storm(lease: Lease) -> bool:
    """Whether *lease* is of what was only recorded: it says until when, and of no time that is history."""
    return is_of_a_scope(lease.generation) and lease.outcome == RECORDED


def goes_on(lease: Lease | None, holder: Incident | None, finding: Finding) -> bool:
    """Whether *finding* is more of the storm that the incident of its lease told of."""
    if lease is None or holder is None or lease.released_at is None or not tells_of_a_storm(lease):
        return False
    ends = lease.released_at + timedelta(seconds=STORM_SECONDS)
    return holder.policy.revision == finding.policy.revision and finding.observed_at <= ends


def remember(work: Working, finding: Finding, incident: Incident) -> None:
    """Note that *incident* has told of the storm up to *finding*; findings about one node are none."""
    if not is_of_a_scope(finding.generation):
        return
    lease = work.leases.get(finding.generation)
    mine = lease is not None and lease.incident == incident.id
    until = (
        max(finding.observed_at, lease.released_at or finding.observed_at) if lease and mine else finding.observed_at
    )
    if lease is None or not mine:
        lease = leases.acquire(
            lease,
            cluster=incident.cluster,
            generation=finding.generation,
            incident=incident.id,
            until=incident.deadline,
        )
    work.leases[finding.generation] = leases.release(lease, RECORDED, until)
