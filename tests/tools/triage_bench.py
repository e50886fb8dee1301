"""Triage over in-memory twins, for tests of a whole batch; a part can be exchanged for a worse one."""

from typing import Any

from functions.triage.facts import FactBook
from functions.triage.records import read_records
from functions.triage.rulebooks import Rulebooks
from functions.triage.seen import SeenBook
from functions.triage.triage import Triage
from functions.twins.facts import MemoryFacts
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryDecisions, MemoryNodeStates, MemoryRejects, MemorySeen, MemoryTelemetry
from policies.contract.envelope import Envelope
from tests.tools.envelopes import at, kinesis_event, sqs_event
from tests.tools.policy_table import in_force


class Bench:
    """Triage over twins; parts can be exchanged for worse ones."""

    def __init__(self, **worse: Any) -> None:  # noqa: ANN401 - any port
        self.policies: MemoryPolicies = worse.pop("policies", None) or in_force()
        self.states = MemoryNodeStates()
        self.rejects = MemoryRejects()
        self.decisions = MemoryDecisions()
        self.seen = MemorySeen()
        self.telemetry = MemoryTelemetry()
        self.now = at(1)
        self.ports: dict[str, Any] = {
            "states": self.states,
            "rejects": self.rejects,
            "decisions": self.decisions,
            "facts": FactBook(MemoryFacts(), self.telemetry),
            **worse,
        }
        self.triage = self.worker()

    def worker(self) -> Triage:
        """Return a fresh worker over the same tables."""
        return Triage(
            rulebooks=Rulebooks(self.policies, self.telemetry),
            seen=SeenBook(self.seen),
            telemetry=self.telemetry,
            clock=lambda: self.now,
            **self.ports,
        )

    def take(self, *envelopes: Envelope | bytes, arrived: float = 0) -> list[str]:
        bodies = [one if isinstance(one, bytes) else one.to_json().encode() for one in envelopes]
        return list(self.triage.handle(read_records(kinesis_event(*bodies, arrived=arrived))))

    def overflow(self, *envelopes: Envelope) -> list[str]:
        return list(self.triage.handle(read_records(sqs_event(*(one.to_json() for one in envelopes)))))

    @property
    def finding_ids(self) -> list[str]:
        return [finding.id for message in self.decisions.sent for finding in message.findings]
