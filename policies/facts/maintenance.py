"""Whether a person has a node in hand: ``NODE#<instance>#maintenance``.

Decides how long that holds: until the moment that was given with it, whatever the table still keeps. It must not know
who may say so.
"""

from collections.abc import Mapping

from policies.contract.base import Model
from policies.contract.events import Scalar
from policies.contract.times import Moment
from policies.facts.fact import About, Fact, FactDocument, FactType, of_instance

MEMBER = "node.in_maintenance"


class Maintenance(Model):
    """A person works on the node ``until`` then."""

    until: Moment
    by: str = ""
    why: str = ""


def _answer(document: Maintenance | None, about: About) -> Mapping[str, Scalar]:
    return {MEMBER: document is not None and about.now < document.until}


MAINTENANCE = FactDocument(
    name="maintenance",
    facts=(Fact(MEMBER, FactType.FLAG, "a person said that they work on the node, and until when"),),
    subject=of_instance,
    sort_key=lambda instance: f"NODE#{instance}#maintenance",
    parse=Maintenance.model_validate_json,
    answer=_answer,
)
