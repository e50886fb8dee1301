"""How a sighting stands in a poll's stored state. It must not know conditions."""

from dataclasses import replace
from typing import Any

from agent.parsers.sighting import Sighting
from policies.contract.events import Component
from policies.contract.vocabulary import Kind, Persistence, Severity

Json = dict[str, Any]


def dump_sighting(sighting: Sighting) -> Json:
    """Return *sighting* as JSON."""
    component = sighting.component.model_dump(mode="json", exclude_none=True) if sighting.component else None
    return {
        "kind": sighting.kind.value,
        "severity": sighting.severity.value,
        "component": component,
        "attributes": dict(sighting.attributes),
        "persistence": sighting.persistence.value,
    }


def load_sighting(stored: Json) -> Sighting:
    """Return what `dump_sighting` made of one."""
    component = Component.model_validate(stored["component"]) if stored["component"] else None
    sighting = Sighting(Kind(stored["kind"]), Severity(stored["severity"]), component, stored["attributes"])
    return replace(sighting, persistence=Persistence(stored["persistence"]))
