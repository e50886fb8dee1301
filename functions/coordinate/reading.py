"""What one decision reads: what the messages name, the switches of their policies, then what all that points to.

Three reads, however many messages: beside the switches, at the same time, what people and the sweep say of nodes and
cluster. Where a run's end is news, its open incidents are listed as well. It must not decide what is needed
(`policies.coordination.decide`, `sparing` and `missing` say so).
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from functions.coordinate.parallel import run_all
from functions.coordinate.sizing import measure
from functions.ports.coordination import CoordinationStore, Executions, Sizes, Switchboard
from functions.ports.facts import FactKey, FactReader
from policies.contract.decisions import AnyMessage, SweepMessage
from policies.coordination.asking_again import LONGEST
from policies.coordination.decide import keys_behind, keys_of, policies_of
from policies.coordination.incident import Incident
from policies.coordination.limits import to_measure
from policies.coordination.missing import runs_to_look_up
from policies.coordination.rules import Rules
from policies.coordination.snapshot import ExecutionState, Keys, Snapshot
from policies.coordination.sparing import asks_capacity, nodes_to_ask
from policies.coordination.sweep import to_look_up
from policies.facts.capacity import CAPACITY, read_capacity
from policies.facts.maintenance import MAINTENANCE, read_maintenance
from policies.moments import earlier


@dataclass(frozen=True)
class Sources:
    """The ports that a decision reads from."""

    store: CoordinationStore
    executions: Executions
    sizes: Sizes
    switches: Switchboard
    facts: FactReader


def read_snapshot(
    cluster: str, messages: Sequence[AnyMessage], *, sources: Sources, rules: Rules, now: datetime, pool: Executor
) -> Snapshot:
    """Return all that a decision over *messages* needs; only a sweep lists and looks up executions."""
    store = sources.store
    sweeping = any(isinstance(message, SweepMessage) for message in messages)
    listed = (*store.list_running(cluster), *store.list_denied(cluster, earlier(now, LONGEST))) if sweeping else ()
    snapshot = store.read(cluster, keys_of(messages, listed))
    wanted = _facts_to_read(snapshot, messages)
    facts = pool.submit(sources.facts.read, wanted) if wanted else None
    policies = policies_of(snapshot, messages)
    if policies:
        snapshot = replace(snapshot, switches=sources.switches.read(policies))
    if facts:
        snapshot = _with_facts(snapshot, facts.result())
    behind = keys_behind(snapshot, messages, now, rules) | _open_of(store, snapshot, messages)
    if behind:
        snapshot = snapshot.merged(store.read(cluster, behind))
    shares = {one for each in snapshot.incidents.values() for one in to_measure(each)}
    if shares:
        sizes = measure(cluster, shares, sizes=sources.sizes, facts=sources.facts, now=now)
        snapshot = replace(snapshot, sizes=sizes)
    if sweeping:
        silent = to_look_up(snapshot.incidents.values(), now, rules)
        snapshot = replace(snapshot, executions=_look_up(silent, sources.executions, pool))
    return snapshot


def _open_of(store: CoordinationStore, snapshot: Snapshot, messages: Sequence[AnyMessage]) -> Keys:
    """Return the open incidents of runs that *messages* say have ended."""
    found = store.list_open(snapshot.cluster, runs_to_look_up(snapshot, messages))
    return Keys(incidents=frozenset(found) - snapshot.incidents.keys())


def _facts_to_read(snapshot: Snapshot, messages: Sequence[AnyMessage]) -> list[FactKey]:
    people = [FactKey(snapshot.cluster, MAINTENANCE.name, each) for each in sorted(nodes_to_ask(snapshot, messages))]
    return [*people, *([FactKey(snapshot.cluster, CAPACITY.name)] if asks_capacity(snapshot) else [])]


def _with_facts(snapshot: Snapshot, found: Mapping[FactKey, str]) -> Snapshot:
    """Return *snapshot* with which of its nodes people have in hand, and what the cluster could get."""
    people = {key: text for key, text in found.items() if key.document == MAINTENANCE.name}
    return replace(
        snapshot,
        maintenance={key.subject: read_maintenance(text) for key, text in people.items()},
        capacity=read_capacity(found.get(FactKey(snapshot.cluster, CAPACITY.name))),
    )


def _look_up(incidents: Sequence[Incident], executions: Executions, pool: Executor) -> dict[str, ExecutionState]:
    """Return the state by execution name; what cannot be looked up now is left for the next minute."""
    states: dict[str, ExecutionState] = {}

    def look_up(incident: Incident) -> None:
        states[incident.execution] = executions.describe(incident.id, incident.attempt)

    run_all(pool, [partial(look_up, each) for each in incidents])
    return states
