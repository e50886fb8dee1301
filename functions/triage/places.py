"""Where nodes are in the network, for the policies that ask: what intake has found out of them.

Decides which nodes are looked up: those that do not say it themselves and have an event that such a policy may meet.
All others cost nothing. A warm worker remembers for a while. It must not know how a place is found out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from functions.ports.topology import TopologyStore
from functions.ports.triage import NodeKey
from functions.triage.sorting import Arrival
from policies.contract.envelope import ParsedEnvelope
from policies.rulebook import Rulebook

REMEMBERED = timedelta(hours=1)  # an instance keeps its place until it is stopped
UNKNOWN_REMEMBERED = timedelta(minutes=1)  # intake may be finding it out just now
MOST_REMEMBERED = 20_000
Nodes = Mapping[NodeKey, Sequence[Arrival]]


class Places:
    """Looks nodes up in *topology*."""

    def __init__(self, topology: TopologyStore) -> None:
        """Remember nothing yet."""
        self._topology = topology
        self._known: dict[NodeKey, tuple[tuple[str, ...], datetime]] = {}

    def fill(self, nodes: Nodes, rulebook: Rulebook, now: datetime) -> Nodes:
        """Return *nodes* with the places that *rulebook* asks for and that are known. Raises DependencyError."""
        if not rulebook.asks_path:
            return nodes
        asked = [key for key, arrivals in nodes.items() if _is_asked(arrivals, rulebook)]
        self._look_up([key for key in asked if self._forgot(key, now)], now)
        found = {key: self._known[key][0] for key in asked if key in self._known}
        return {key: _placed(arrivals, found.get(key, ())) for key, arrivals in nodes.items()}

    def _forgot(self, key: NodeKey, now: datetime) -> bool:
        return key not in self._known or now >= self._known[key][1]

    def _look_up(self, keys: Sequence[NodeKey], now: datetime) -> None:
        if len(self._known) + len(keys) > MOST_REMEMBERED:
            self._known.clear()
        for cluster in sorted({key.cluster for key in keys}):
            mine = [key for key in keys if key.cluster == cluster]
            found = self._topology.find((cluster,), [key.instance_id for key in mine])
            for key in mine:
                path = found[key.instance_id].network_path if key.instance_id in found else ()
                self._known[key] = (path, now + (REMEMBERED if path else UNKNOWN_REMEMBERED))


def _is_asked(arrivals: Sequence[Arrival], rulebook: Rulebook) -> bool:
    envelopes = (arrival.delivery.parsed.envelope for arrival in arrivals)
    events = (event for envelope in envelopes if not envelope.node.network_path for event in envelope.events)
    return any(rule.asks_path for event in events for rule, _rest in rulebook.candidates(event))


def _placed(arrivals: Sequence[Arrival], path: tuple[str, ...]) -> Sequence[Arrival]:
    return [_with(arrival, path) for arrival in arrivals] if path else arrivals


def _with(arrival: Arrival, path: tuple[str, ...]) -> Arrival:
    parsed = arrival.delivery.parsed
    if parsed.envelope.node.network_path:
        return arrival
    node = parsed.envelope.node.model_copy(update={"network_path": path})
    envelope = parsed.envelope.model_copy(update={"node": node})
    delivery = replace(arrival.delivery, parsed=ParsedEnvelope(envelope, parsed.rejected))
    return replace(arrival, delivery=delivery)
