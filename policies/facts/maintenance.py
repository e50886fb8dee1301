"""Whether a person has a node in hand: ``NODE#<instance>#maintenance``.

Decides how long that holds: until the moment that was given with it, whatever the table still keeps. It must not know
who may say so.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from policies.contract.base import Model
from policies.contract.events import Scalar
from policies.contract.times import Moment
from policies.facts.fact import About, Fact, FactDocument, FactType, of_instance

MEMBER = "node.in_maintenance"


class Maintenance(Model):
    """A person works on the node ``until`` then; ``since`` is when they said so, ``ended_by`` who ended it early."""

    until: Moment
    since: Moment | None = None
    by: str = ""
    why: str = ""
    ended_by: str = ""


# A document that somebody broke is taken for what its writer meant: hands off.
BROKEN = Maintenance(until=datetime.max.replace(tzinfo=UTC), why="its document cannot be read; end it or say it anew")


def read_maintenance(text: str) -> Maintenance:
    """Return what *text* says; what cannot be read holds until a person ends it."""
    try:
        return Maintenance.model_validate_json(text)
    except ValueError:
        return BROKEN


def why_in_maintenance(maintenance: Maintenance) -> str:
    """Return what a person reads of it: until when, by whom and why."""
    until = "" if maintenance is BROKEN else f" until {maintenance.until:%Y-%m-%d %H:%M} UTC"
    who = f", by {maintenance.by}" if maintenance.by else ""
    return f"is in maintenance{until}{who}{f': {maintenance.why}' if maintenance.why else ''}"


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
