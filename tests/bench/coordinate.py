"""Decided: 750 nodes of one cluster fail at once. How long until each has its incident, with policy and first rung?

The real coordinate on ports in memory that take as long as AWS's do: 10 ms a call to DynamoDB, 50 ms to StartExecution.
Batches of ten, one after the other, as a FIFO group gives them. Settle time is not part of it.
"""

import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from functions.coordinate.coordinate import Coordinator
from functions.coordinate.parallel import WORKERS
from functions.ports.facts import FactKey
from functions.twins.dead_letters import MemoryDeadLetters
from functions.twins.executions import MemoryExecutions
from functions.twins.facts import MemoryFacts
from functions.twins.sizes import MemorySizes
from functions.twins.switches import MemorySwitches
from functions.twins.triage import MemoryTelemetry
from policies.contract.decisions import FindingsMessage
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore
from policies.coordination.snapshot import AnyChange, Keys, Snapshot
from policies.coordination.switches import Switches
from tests.bench.measure import Figure, figure, repeat
from tests.tools.incidents import CLUSTER, RULES, finding, findings
from tests.tools.records import sqs_record
from tests.tools.world import policies_in_force

NODES = 750
BATCH = 10
DYNAMODB_SECONDS = 0.010
START_SECONDS = 0.050


class SlowStore(MemoryStore):
    """Every call takes as long as one to DynamoDB."""

    def read(self, cluster: str, keys: Keys) -> Snapshot:
        time.sleep(DYNAMODB_SECONDS)
        return super().read(cluster, keys)

    def write(self, change: AnyChange) -> None:
        time.sleep(DYNAMODB_SECONDS)
        super().write(change)

    def write_lines(self, incident: Incident) -> None:
        time.sleep(DYNAMODB_SECONDS * 3)  # three lines, put one after the other
        super().write_lines(incident)


class SlowSwitches(MemorySwitches):
    """One read for a batch, which takes as long as one of DynamoDB."""

    def read(self, policies: Collection[str]) -> Switches:
        time.sleep(DYNAMODB_SECONDS)
        return super().read(policies)


class SlowFacts(MemoryFacts):
    """One read for a batch, which takes as long as one of DynamoDB."""

    def read(self, keys: Collection[FactKey]) -> Mapping[FactKey, str]:
        time.sleep(DYNAMODB_SECONDS)
        return super().read(keys)


class SlowExecutions(MemoryExecutions):
    """Every start takes as long as StartExecution."""

    def start(self, cluster: str, incident: str, attempt: int) -> None:
        time.sleep(START_SECONDS)
        super().start(cluster, incident, attempt)


def _messages(each: int) -> list[str]:
    now = datetime.now(UTC)
    all_findings = [finding(f"i-{number:04d}", seen=now) for number in range(NODES)]
    grouped: list[FindingsMessage] = [findings(*all_findings[at : at + each]) for at in range(0, NODES, each)]
    return [message.to_json() for message in grouped]


def _run(bodies: list[str]) -> float:
    """Return the seconds until the last of the incidents is persisted and started."""
    store, executions = SlowStore(), SlowExecutions()
    with ThreadPoolExecutor(WORKERS) as pool:
        coordinator = Coordinator(
            store=store,
            executions=executions,
            sizes=MemorySizes(),
            switches=SlowSwitches(policies_in_force()),
            facts=SlowFacts(),
            dead_letters=MemoryDeadLetters(),
            telemetry=MemoryTelemetry(),
            rules=RULES,
            clock=lambda: datetime.now(UTC),
            pool=pool,
        )
        began = time.perf_counter()
        for first in range(0, len(bodies), BATCH):
            batch = bodies[first : first + BATCH]
            coordinator.take([sqs_record(index, body) for index, body in enumerate(batch)])
        seconds = time.perf_counter() - began
    incidents = store.all_incidents()
    assert len(incidents) == len(executions.started) == NODES
    assert all(incident.policy.name and incident.current and incident.cluster == CLUSTER for incident in incidents)
    return seconds


def figures() -> list[Figure]:
    alone, together = _messages(1), _messages(10)
    return [
        figure("decided: 750 nodes at once, a message each", "s", repeat(lambda: _run(alone), 3), better="lower"),
        figure("decided: 750 nodes at once, ten a message", "s", repeat(lambda: _run(together), 3), better="lower"),
    ]
