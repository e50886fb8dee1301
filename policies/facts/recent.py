"""Which nodes of a cluster had which fault within the hour: ``RECENT``, which coordinate writes, and the facts in it.

Decides who is a neighbour: another node with the same fault (`faults.py`) that shares a rack, a switch, a job, the
instance type, the version of NVIDIA's driver or only the cluster. Agents tell the version, though older ones do not;
nodes of one instance type of a cluster mostly run one image, and so one driver. It must not know how findings become
entries.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from policies.contract.base import Model
from policies.contract.events import Scalar
from policies.contract.times import Moment
from policies.facts.fact import About, Fact, FactDocument, FactType, of_cluster
from policies.facts.faults import fault_of

HOUR = timedelta(hours=1)
Span = tuple[datetime, datetime]  # from when until when something came in a row
_RACK, _SWITCH = -1, -2  # of a network path, outermost first (`policies/scopes.py`)


class Sign(NamedTuple):
    """One node had one fault, the last time ``at``; a place that is not known is empty.

    A document holds it as a list, and whoever knows fewer columns reads none of a document that has more: after a
    roll-back no node would have neighbours. What is added is a field of `Recent`.
    """

    fault: str
    instance: str
    at: Moment
    rack: str = ""
    switch: str = ""
    job: str = ""
    type: str = ""
    driver: str = ""


class Row(Model):
    """When the fault of the sign with the same ``fault``, ``instance``, ``job`` and ``at`` came in a row.

    ``ages`` are the times that it did while that was news, in microseconds before ``at``: from, until, from, until.
    """

    fault: str
    instance: str
    job: str
    at: Moment
    ages: tuple[int, ...]


class Recent(Model):
    """The document: one sign for each fault, node and run.

    ``rows`` are of the signs that came otherwise than at one moment while that was news. An older version that writes
    the document leaves them out.
    """

    cluster: str
    version: int = 1
    signs: tuple[Sign, ...] = ()
    rows: tuple[Row, ...] = ()

    def came(self) -> Iterator[tuple[Sign, tuple[Span, ...]]]:
        """Yield each sign with the spans in which it came, the latest last."""
        rows = {(row.fault, row.instance, row.job, row.at): row.ages for row in self.rows}
        for sign in self.signs:
            yield sign, spans_of(sign.at, rows.get((sign.fault, sign.instance, sign.job, sign.at)))


def spans_of(at: datetime, ages: tuple[int, ...] | None) -> tuple[Span, ...]:
    """Return the spans of a `Row` with *ages* before *at*; None: there is no row."""
    ends = [at - timedelta(microseconds=each) for each in ((0, 0) if ages is None else ages)]
    return tuple(zip(ends[::2], ends[1::2], strict=False))


class Neighbours:
    """The document by fault, as it is asked."""

    def __init__(self, document: Recent) -> None:
        """Sort the signs."""
        self._by_fault: dict[str, list[Sign]] = {}
        for sign in document.signs:
            self._by_fault.setdefault(sign.fault, []).append(sign)

    def of(self, about: About) -> Iterable[Sign]:
        """Return the signs of the fault on other nodes within the hour."""
        mine = self._by_fault.get(fault_of(about.event.kind, about.event.attributes), ())
        return [sign for sign in mine if sign.instance != about.node.instance_id and abs(about.now - sign.at) <= HOUR]


def place_of(path: tuple[str, ...], depth: int) -> str:
    """Return the network node so far from the end of *path*, empty when it is not known."""
    return path[depth] if len(path) >= -depth else ""


def rack_and_switch(path: tuple[str, ...]) -> tuple[str, str]:
    """Return the innermost network node of *path* and the one above it."""
    return place_of(path, _RACK), place_of(path, _SWITCH)


def _answer(document: Neighbours | None, about: About) -> Mapping[str, Scalar]:
    signs = document.of(about) if document else ()
    node, job = about.node, about.event.job.id if about.event.job else ""
    rack, switch = rack_and_switch(node.network_path)
    shared = {"rack": rack, "switch": switch, "job": job, "type": node.instance_type, "driver": node.driver_version}
    facts: dict[str, Scalar] = {
        f"neighbours.same_kind_{name}": len({sign.instance for sign in signs if getattr(sign, name) == place})
        for name, place in shared.items()
        if place
    }
    return {**facts, "neighbours.same_kind_cluster": len({sign.instance for sign in signs})}


RECENT = FactDocument(
    name="recent",
    facts=(
        Fact("neighbours.same_kind_rack", FactType.WHOLE, "other nodes of its rack with the same fault within an hour"),
        Fact("neighbours.same_kind_switch", FactType.WHOLE, "the same under its switch"),
        Fact("neighbours.same_kind_job", FactType.WHOLE, "the same under the event's job"),
        Fact("neighbours.same_kind_type", FactType.WHOLE, "the same of its instance type, so mostly of its driver"),
        Fact("neighbours.same_kind_driver", FactType.WHOLE, "the same with its version of NVIDIA's driver"),
        Fact("neighbours.same_kind_cluster", FactType.WHOLE, "the same in its cluster"),
    ),
    subject=of_cluster,
    sort_key=lambda _cluster: "RECENT",
    parse=lambda text: Neighbours(Recent.model_validate_json(text)),
    answer=_answer,
    varies=lambda event, node: (
        fault_of(event.kind, event.attributes),
        event.job.id if event.job else "",
        node.driver_version,
    ),
)
