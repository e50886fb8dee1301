"""What one decision reads: what the messages name, the switches of their policies, then what all that points to.

Three reads, however many messages. It must not decide what is needed (`policies.coordination.decide` says so).
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from functions.coordinate.parallel import run_all
from functions.ports.coordination import CoordinationStore, Executions, Sizes, Switchboard
from policies.contract.decisions import AnyMessage, SweepMessage
from policies.coordination.decide import keys_behind, keys_of, policies_of
from policies.coordination.incident import Incident
from policies.coordination.limits import scopes_in_percent
from policies.coordination.rules import Rules
from policies.coordination.snapshot import ExecutionState, Snapshot
from policies.coordination.sweep import to_look_up


@dataclass(frozen=True)
class Sources:
    """The ports that a decision reads from."""

    store: CoordinationStore
    executions: Executions
    sizes: Sizes
    switches: Switchboard


def read_snapshot(
    cluster: str, messages: Sequence[AnyMessage], *, sources: Sources, rules: Rules, now: datetime, pool: Executor
) -> Snapshot:
    """Return all that a decision over *messages* needs; only a sweep lists and looks up executions."""
    store = sources.store
    sweeping = any(isinstance(message, SweepMessage) for message in messages)
    listed = store.list_running(cluster) if sweeping else ()
    snapshot = store.read(cluster, keys_of(messages, listed))
    policies = policies_of(snapshot, messages)
    if policies:
        snapshot = replace(snapshot, switches=sources.switches.read(policies))
    behind = keys_behind(snapshot, messages, now, rules)
    if behind:
        snapshot = snapshot.merged(store.read(cluster, behind))
    percentages = [scope for each in snapshot.incidents.values() for scope in scopes_in_percent(each)]
    if percentages:
        snapshot = replace(snapshot, sizes=dict.fromkeys(percentages, sources.sizes.count(cluster)))
    if sweeping:
        silent = to_look_up(snapshot.incidents.values(), now, rules)
        snapshot = replace(snapshot, executions=_look_up(silent, sources.executions, pool))
    return snapshot


def _look_up(incidents: Sequence[Incident], executions: Executions, pool: Executor) -> dict[str, ExecutionState]:
    """Return the state by execution name; what cannot be looked up now is left for the next minute."""
    states: dict[str, ExecutionState] = {}

    def look_up(incident: Incident) -> None:
        states[incident.execution] = executions.describe(incident.id, incident.attempt)

    run_all(pool, [partial(look_up, each) for each in incidents])
    return states
