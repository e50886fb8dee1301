"""What a parser makes of one record, before it has a node, a time, a place in the spool or a count.

It must not know sources, clocks or other records.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from policies.contract.catalog.nvlink5 import DriverLayout
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

NODE = Component(type=ComponentType.NODE)


@dataclass(frozen=True, slots=True)
class Sighting:
    """One fault that a record tells of."""

    kind: Kind
    severity: Severity
    component: Component | None = None
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    persistence: Persistence = Persistence.UNKNOWN


def known(**told: Scalar | None) -> dict[str, Scalar]:
    """Return the attributes of *told* that somebody knows: those that are not None."""
    return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True, slots=True)
class LineParser:
    """One family of faults. Only records that hold one of *words* are worth a call of *parse*.

    ``parse``: text of one record (lines joined by newlines, prefixes of the log stripped) and the layout that the
    loaded driver prints NVLink errors in (None: not known) -> what it tells of; never raises.
    """

    parse: Callable[[str, DriverLayout | None], list[Sighting]]
    words: tuple[str, ...]
