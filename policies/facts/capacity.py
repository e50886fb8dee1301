"""What could take the place of a node that is given up: ``CAPACITY``, one document a cluster, new every minute.

Decides how long such a look counts, and when it says that nothing would come. What could not be found out is unknown,
never 0. It must not know how it is found out.
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


class Capacity(Model):
    """What the sweep found ``at`` some minute; None is unknown, and ``unknown`` says why, by field.

    ``spares``: instances that could take over at once. ``reserved``: slots of the cluster's capacity reservations, 0
    when it has none; ``reserved_free``: those that nothing runs in. ``headroom``: by how much its groups may grow.
    ``refused_at``: when Auto Scaling last failed to launch something for want of capacity, with nothing launched since.
    """

    at: Moment
    spares: int | None = None
    reserved: int | None = None
    reserved_free: int | None = None
    headroom: int | None = None
    refused_at: Moment | None = None
    refused: str = ""
    unknown: dict[str, str] = {}

    def is_fresh(self, now: datetime) -> bool:
        """Whether this still says what is; one from a time to come was written by hand, or by a clock that is wrong."""
        return abs((now - self.at).total_seconds()) <= FRESH_SECONDS


def read_capacity(text: str | None) -> Capacity | None:
    """Return what *text* says; None when there is none, or it cannot be read."""
    try:
        return Capacity.model_validate_json(text) if text else None
    except ValueError:
        return None


def why_none(capacity: Capacity | None, now: datetime) -> str:
    """Return why nothing would come for a node that is given up now; empty when something may, or nobody knows."""
    if capacity is None or not capacity.is_fresh(now) or capacity.spares != 0 or capacity.reserved_free:
        return ""
    if capacity.refused_at and abs((now - capacity.refused_at).total_seconds()) <= REFUSED_SECONDS:
        return f"no spare, and the last launch was refused at {capacity.refused_at:%H:%M:%S} UTC: {capacity.refused}"
    if capacity.reserved and capacity.reserved_free == 0:
        return f"no spare, and all {capacity.reserved} reserved slots are taken"
    return ""


def _answer(document: Capacity | None, about: About) -> Mapping[str, Scalar]:
    if document is None or not document.is_fresh(about.now):
        return {}
    members = {
        SPARES: document.spares,
        RESERVED_FREE: document.reserved_free,
        HEADROOM: document.headroom,
    }
    return {member: value for member, value in members.items() if value is not None}


CAPACITY = FactDocument(
    name="capacity",
    facts=(
        Fact(SPARES, FactType.WHOLE, "instances of the cluster's warm pools that could take over at once"),
        Fact(RESERVED_FREE, FactType.WHOLE, "free slots of the cluster's capacity reservations and Capacity Blocks"),
        Fact(HEADROOM, FactType.WHOLE, "by how many instances its Auto Scaling groups may grow: maximum less desired"),
    ),
    subject=of_cluster,
    sort_key=lambda _cluster: SORT_KEY,
    parse=Capacity.model_validate_json,
    answer=_answer,
    as_of=lambda document: document.at,
)
