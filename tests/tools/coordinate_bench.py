"""Coordinate on twins that refuse what they are told to: store, executions, dead letters, and rules that break."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from functions.coordinate.coordinate import Coordinator
from functions.twins.dead_letters import MemoryDeadLetters
from functions.twins.executions import MemoryExecutions
from functions.twins.facts import MemoryFacts
from functions.twins.sizes import MemorySizes
from functions.twins.switches import MemorySwitches
from functions.twins.triage import MemoryTelemetry
from policies.contract.decisions import AnyMessage, FindingsMessage
from policies.contract.errors import DependencyError
from policies.coordination import decide
from policies.coordination.findings import take_findings
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore
from policies.coordination.rules import Rules
from policies.coordination.snapshot import AnyChange, ConflictError, Keys, Snapshot
from policies.coordination.working import Working
from tests.tools.incidents import RULES, START
from tests.tools.records import sqs_record
from tests.tools.world import policies_in_force


class TroubledStore(MemoryStore):
    """Refuses what it is told to: ``poison`` is a node whose incident cannot be written, ``conflicts`` a count."""

    def __init__(self) -> None:
        super().__init__()
        self.poison = ""
        self.conflicts = 0
        self.unreadable: dict[str, Exception] = {}
        self.down = False
        self.lines_fail = False
        self.reads = 0

    def read(self, cluster: str, keys: Keys) -> Snapshot:
        self.reads += 1
        for node, error in self.unreadable.items():
            if any(lease.startswith(node) for lease in keys.leases):
                raise error
        if self.down:
            raise DependencyError("DynamoDB does not answer.")
        return super().read(cluster, keys)

    def write(self, change: AnyChange) -> None:
        if isinstance(change.after, Incident) and change.after.node.instance_id == self.poison:
            raise DependencyError("the item is too large.")
        if self.conflicts:
            self.conflicts -= 1
            raise ConflictError("somebody was faster.")
        super().write(change)

    def write_lines(self, incident: Incident) -> None:
        if self.lines_fail:
            raise DependencyError("DynamoDB does not answer.")
        super().write_lines(incident)


class TroubledExecutions(MemoryExecutions):
    """Cannot start the incident in ``refused``, cannot answer at all while ``mute``."""

    refused = ""
    mute = False

    def start(self, cluster: str, incident: str, attempt: int) -> None:
        if incident == self.refused:
            raise DependencyError("Step Functions does not answer.")
        super().start(cluster, incident, attempt)

    def answer(self, token: str, answer: object) -> bool:
        if self.mute:
            raise DependencyError("Step Functions does not answer.")
        return super().answer(token, answer)  # type: ignore[arg-type]


@dataclass
class Bench:
    store: TroubledStore = field(default_factory=TroubledStore)
    executions: TroubledExecutions = field(default_factory=TroubledExecutions)
    now: datetime = START

    def __post_init__(self) -> None:
        self.pool = ThreadPoolExecutor(4)
        self.sizes, self.telemetry = MemorySizes(), MemoryTelemetry()
        self.facts = MemoryFacts()
        self.policies, self.dead = policies_in_force(), MemoryDeadLetters()
        self.coordinator = Coordinator(
            store=self.store,
            executions=self.executions,
            sizes=self.sizes,
            switches=MemorySwitches(self.policies),
            facts=self.facts,
            dead_letters=self.dead,
            telemetry=self.telemetry,
            rules=RULES,
            clock=lambda: self.now,
            pool=self.pool,
        )

    def take(self, *bodies: AnyMessage | str) -> list[int]:
        """Take a batch; return the positions of what comes back."""
        texts = [body if isinstance(body, str) else body.to_json() for body in bodies]
        answer = self.coordinator.take([sqs_record(index, text) for index, text in enumerate(texts)])
        return [int(each["itemIdentifier"]) for each in answer["batchItemFailures"]]

    def refused(self) -> dict[str, str]:
        """Return position in the batch -> reason of what lies in the dead letters."""
        return {letter.id: letter.attributes["reason"] for letter in self.dead.letters}

    def incident(self, node: str = "i-1") -> Incident:
        return next(each for each in self.store.all_incidents() if each.node.instance_id == node)


def break_on(
    monkeypatch: pytest.MonkeyPatch, node: str, *, times: int = 1000, error: type[Exception] = ZeroDivisionError
) -> None:
    """Have the rules break on findings of *node*, *times* times."""
    left = iter(range(times))

    def broken(work: Working, message: FindingsMessage, rules: Rules, now: datetime) -> None:
        if message.findings[0].node.instance_id == node and next(left, None) is not None:
            raise error(f"nobody thought of {node}")
        take_findings(work, message, rules, now)

    monkeypatch.setattr(decide, "take_findings", broken)
