"""What could take the place of a node that is given up: ``CAPACITY``, one document a cluster, new every minute.

Decides how long such a look counts, when it says that nothing would come, and that this is a question of the node's
instance type: what is there for another type takes no place. Of a type that the look does not know the whole cluster's
figures answer. What could not be found out is unknown, never 0. It must not know how it is found out.
"""

from collections.abc import Mapping
from datetime import datetime

from policies.contract.base import Model
from policies.contract.events import Scalar
from policies.contract.times import Moment
from policies.facts.fact import About, Fact, FactDocument, FactType, of_cluster

SORT_KEY = "CAPACITY"
SPARES, RESERVED_FREE, HEADROOM = "capacity.spares", "capacity.reserved_free", "capacity.headroom"
FRESH_SECONDS = 300.0  # five sweeps: after that nobody knows any more
# How long a launch that was refused says that the next one would be, too. Auto Scaling tries again after growing
# pauses, so that a group that still lacks something refuses again within this; a full group tries nothing.
REFUSED_SECONDS = 1800.0
_FOR = "for the node's instance type; the whole cluster's where that is not known"


class Available(Model):
    """What could take a node's place; None is unknown.

    ``spares``: instances that could take over at once. ``reserved``: slots of the cluster's capacity reservations, 0
    when it has none; ``reserved_free``: those that nothing runs in. ``headroom``: by how much its groups may grow.
    ``refused_at``: when Auto Scaling last failed to launch something for want of capacity, with nothing launched since.
    """

    spares: int | None = None
    reserved: int | None = None
    reserved_free: int | None = None
    headroom: int | None = None
    refused_at: Moment | None = None
    refused: str = ""


class Capacity(Available):
    """What the sweep found ``at`` some minute, of the whole cluster; ``unknown`` says why something is, by field.

    ``by_type``: the same of what could take the place of a node of that instance type, for the types that are known.
    A document of before that was told has none, and who reads none of it reads the whole cluster's: both go on.
    """

    at: Moment
    unknown: dict[str, str] = {}
    by_type: dict[str, Available] = {}

    def is_fresh(self, now: datetime) -> bool:
        """Whether this still says what is; one from a time to come was written by hand, or by a clock that is wrong."""
        return abs((now - self.at).total_seconds()) <= FRESH_SECONDS

    def of(self, instance_type: str) -> Available:
        """Return what could take the place of a node of *instance_type*; all there is where nobody knows of that."""
        return self.by_type.get(instance_type, self)


def read_capacity(text: str | None) -> Capacity | None:
    """Return what *text* says; None when there is none, or it cannot be read."""
    try:
        return Capacity.model_validate_json(text) if text else None
    except ValueError:
        return None


def why_none(capacity: Capacity | None, now: datetime, instance_type: str) -> str:
    """Return why nothing would come for a node of *instance_type* that is given up now.

    Empty when something may, or nobody knows.
    """
    if capacity is None or not capacity.is_fresh(now):
        return ""
    found, known = capacity.of(instance_type), instance_type in capacity.by_type
    if found.spares != 0 or found.reserved_free:
        return ""
    none = f"no spare for {instance_type}" if known else "no spare"
    if found.refused_at and abs((now - found.refused_at).total_seconds()) <= REFUSED_SECONDS:
        return f"{none}, and the last launch was refused at {found.refused_at:%H:%M:%S} UTC: {found.refused}"
    if found.reserved and found.reserved_free == 0:
        slots = f"{found.reserved} slots reserved for it" if known else f"{found.reserved} reserved slots"
        return f"{none}, and all {slots} are taken"
    return ""


def _answer(document: Capacity | None, about: About) -> Mapping[str, Scalar]:
    if document is None or not document.is_fresh(about.now):
        return {}
    found = document.of(about.node.instance_type)
    members = {SPARES: found.spares, RESERVED_FREE: found.reserved_free, HEADROOM: found.headroom}
    return {member: value for member, value in members.items() if value is not None}


def _of_what(document: Capacity | None, about: About) -> str:
    known = document is not None and about.node.instance_type in document.by_type
    return about.node.instance_type if known else "the whole cluster"


CAPACITY = FactDocument(
    name="capacity",
    facts=(
        Fact(SPARES, FactType.WHOLE, f"warm instances that could take over at once, {_FOR}"),
        Fact(RESERVED_FREE, FactType.WHOLE, f"free slots of capacity reservations and Capacity Blocks, {_FOR}"),
        Fact(HEADROOM, FactType.WHOLE, f"by how many instances groups may grow: maximum less desired, {_FOR}"),
    ),
    subject=of_cluster,
    sort_key=lambda _cluster: SORT_KEY,
    parse=Capacity.model_validate_json,
    answer=_answer,
    as_of=lambda document: document.at,
    varies=lambda _event, node: node.instance_type,
    of_what=_of_what,
)
