"""What a storm of many nodes is: findings about a scope wider than a node, which have a lease on policy and scope.

Nobody acts on these, so that they are recorded, and one storm is told once (`repeats.py`). It must not decide what is
told.
"""

from datetime import timedelta

from policies.alike import with_value
from policies.contract.vocabulary import RECORDED
from policies.coordination.leases import Lease

STORM = timedelta(hours=1)  # nobody is paged twice an hour for what 700 nodes say of one file server
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
    """Whether *lease* was let go for what was only recorded of a scope: nothing that comes later is history for it."""
    return is_of_a_scope(lease.generation) and lease.outcome == RECORDED
