"""Contexts for acts under test: one incident on one node, with a clock that the test moves."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from functions.acts.act import Act, ActContext
from functions.settings import ClusterSettings
from policies.contract.decisions import PolicyPlan, RungReport
from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef
from policies.contract.rungs import Rung, RungStatus
from policies.contract.vocabulary import Action, PolicyMode
from policies.coordination.notes import FindingNote

START = datetime(2026, 3, 1, 12, 0, 0, 500_000, tzinfo=UTC)
INCIDENT = "0a" * 16
OTHER = "0b" * 16
BUCKET = "checkpoints"
PLACE = f"s3://{BUCKET}/run-7"
CLUSTER = ClusterSettings(
    name="train",
    orchestrator="eks",
    eks_cluster="train-eks",
    auto_scaling_groups=("gpus",),
    gpus_per_node=8,
    checkpoint_buckets=(BUCKET,),
)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Drive:
    """Calls an act as handle-incident does, keeping progress and polls; `restart` forgets them, as a crash does."""

    def __init__(
        self,
        act: Act,
        clock: Clock,
        *,
        node: str,
        facts: Mapping[str, Any] | None = None,
        job: JobRef | None = None,
        incident: str = INCIDENT,
        cluster: ClusterSettings = CLUSTER,
        findings: tuple[FindingNote, ...] = (),
        messages: tuple[str, ...] = (),
    ) -> None:
        self.act = act
        self.clock = clock
        self.node = node
        self.facts = dict(facts or {})
        self.job = job
        self.incident = incident
        self.cluster = cluster
        self.findings = findings
        self.messages = messages
        self.opened_at = self.intended_at = clock.now
        self.progress: Mapping[str, Any] = {}
        self.polls = 0

    def __call__(self) -> RungReport:
        report = self.act.advance(self.context())
        self.progress, self.polls = report.outcome, self.polls + 1
        return report

    def until_done(self, *, step_seconds: float = 5.0, most: int = 50) -> RungReport:
        """Call until done, moving the clock; anything else than waiting ends it."""
        report = self()
        for _ in range(most):
            if report.status is not RungStatus.WAITING:
                return report
            self.clock.move(step_seconds)
            report = self()
        raise AssertionError(f"still {report.reason!r} after {most} looks")

    def restart(self) -> None:
        """Forget what the last report said, as a crash between effect and report does."""
        self.progress, self.polls = {}, 0

    def context(self) -> ActContext:
        return ActContext(
            rung=Rung.ISOLATE,
            incident=self.incident,
            cluster=self.cluster,
            node=NodeIdentity(cluster=self.cluster.name, name="node-a", instance_id=self.node),
            generation=f"{self.node}#0",
            job=self.job,
            facts=self.facts,
            progress=self.progress,
            plan=PolicyPlan(name="gpu-lost", revision=1, mode=PolicyMode.ACTIVE, do=(Action.REPLACE_NODE,)),
            fence=1,
            attempt=1,
            polls=self.polls,
            now=self.clock.now,
            intended_at=self.intended_at,
            opened_at=self.opened_at,
            deadline=self.opened_at + timedelta(minutes=15),
            messages=self.messages,
            findings=self.findings,
        )
