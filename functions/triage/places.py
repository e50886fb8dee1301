"""Where nodes are in the network, for the policies that ask: what intake has found out of them.

Decides which nodes are looked up: those that do not say it themselves and have an event that concerns such a policy.
All others cost nothing. It must not know how a place is found out.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from functions.place_book import PlaceBook
from functions.ports.triage import NodeKey
from functions.triage.sorting import Arrival
from policies.contract.envelope import ParsedEnvelope
from policies.rulebook import Rulebook

Nodes = Mapping[NodeKey, Sequence[Arrival]]


class Places:
    """Looks nodes up in *book*."""

    def __init__(self, book: PlaceBook) -> None:
        """Keep *book*, which others may read as well."""
        self._book = book

    def fill(self, nodes: Nodes, rulebook: Rulebook, now: datetime) -> Nodes:
        """Return *nodes* with the places that *rulebook* asks for and that are known. Raises DependencyError."""
        if not rulebook.asks_path:
            return nodes
        asked = [key for key, arrivals in nodes.items() if _is_asked(arrivals, rulebook)]
        found = self._book.find(asked, now)
        return {key: placed(arrivals, found.get(key, ())) for key, arrivals in nodes.items()}


def _is_asked(arrivals: Sequence[Arrival], rulebook: Rulebook) -> bool:
    envelopes = (arrival.delivery.parsed.envelope for arrival in arrivals)
    events = (event for envelope in envelopes if not envelope.node.network_path for event in envelope.events)
    return any(rule.asks_path for event in events for rule in rulebook.concerned(event))


def placed(arrivals: Sequence[Arrival], path: tuple[str, ...]) -> Sequence[Arrival]:
    """Return *arrivals* with *path* where they do not say themselves where their node is; an empty one says nothing."""
    return [_with(arrival, path) for arrival in arrivals] if path else arrivals


def _with(arrival: Arrival, path: tuple[str, ...]) -> Arrival:
    parsed = arrival.delivery.parsed
    if parsed.envelope.node.network_path:
        return arrival
    node = parsed.envelope.node.model_copy(update={"network_path": path})
    envelope = parsed.envelope.model_copy(update={"node": node})
    delivery = arrival.delivery._replace(parsed=ParsedEnvelope(envelope, parsed.rejected))
    return arrival._replace(delivery=delivery)
