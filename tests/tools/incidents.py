"""Findings, asks and reports as tests need them: everything has a default, one moment is the beginning."""

from datetime import UTC, datetime, timedelta
from typing import Any

from policies.contract.decisions import (
    AskMessage,
    Finding,
    FindingsMessage,
    Limit,
    PolicyPlan,
    RungReport,
    generation_of,
)
from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef
from policies.contract.restraints import Hours, Pace, Trust
from policies.contract.rungs import Rung, RungStatus
from policies.contract.vocabulary import Action, EvidenceRule, Kind, Orchestrator, PolicyMode, Severity, Source
from policies.coordination.rules import Rules

Fact = Any  # JSON of any shape
CLUSTER = "west"
POLICY = "gpu-fell-off-the-bus"
START = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
RULES = Rules({CLUSTER: Orchestrator.EKS, "sage": Orchestrator.SAGEMAKER})
REPLACE = (Action.ISOLATE, Action.REPLACE_NODE, Action.RESUME_JOB)
JOB = JobRef(id="train/llm", orchestrator=Orchestrator.EKS, rank=3, checkpoint="s3://ckpt/llm")


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def plan(
    *do: Action,
    otherwise: tuple[Action, ...] = (Action.PAGE_OPERATOR,),
    settle: float = 20.0,
    deadline: float = 900.0,
    limits: dict[str, Limit] | None = None,
    mode: PolicyMode = PolicyMode.ACTIVE,
    approval: bool = False,
    evidence: EvidenceRule = EvidenceRule.LATCHED,
    name: str = POLICY,
    priority: int = 0,
    acts: Pace | None = None,
    schedule: Hours | None = None,
    trust: Trust | None = None,
) -> PolicyPlan:
    return PolicyPlan(
        name=name,
        revision=3,
        mode=mode,
        do=do or REPLACE,
        otherwise=otherwise,
        settle_seconds=settle,
        deadline_seconds=deadline,
        limits=limits or {},
        approval=approval,
        evidence=evidence,
        priority=priority,
        acts=acts,
        schedule=schedule,
        trust=trust,
    )


def finding(
    node: str = "i-1",
    *,
    name: str = "",
    policy: PolicyPlan | None = None,
    job: JobRef | None = JOB,
    seen: datetime = START,
    kind: Kind = Kind.GPU_XID,
    late: bool = False,
    epoch: int = 0,
    cluster: str = CLUSTER,
) -> Finding:
    return Finding(
        id=name or f"finding-of-{node}",
        node=NodeIdentity(cluster=cluster, name=f"node-{node}", instance_id=node, network_path=("spine", "rack-1")),
        generation=generation_of(node, epoch),
        policy=policy or plan(),
        kind=kind,
        severity=Severity.CRITICAL,
        source=Source.KERNEL_LOG,
        job=job,
        count=1,
        window_start=seen,
        first_observed_at=seen,
        observed_at=seen,
        queued_at=seen,
        decided_at=seen,
        late=late,
        messages=("NVRM: Xid (PCI:0000:4b:00): 79, GPU has fallen off the bus.",),
    )


def findings(*each: Finding) -> FindingsMessage:
    return FindingsMessage(cluster=each[0].node.cluster if each else CLUSTER, findings=each)


def ask(
    incident: str,
    step: int = 0,
    *,
    attempt: int = 1,
    token: str = "",
    report: RungReport | None = None,
    error: str = "",
    cluster: str = CLUSTER,
) -> AskMessage:
    return AskMessage(
        cluster=cluster,
        incident=incident,
        attempt=attempt,
        step=step,
        task_token=token or f"token-{incident}-{attempt}-{step}",
        report=report,
        error=error,
    )


def report(
    rung: Rung, status: RungStatus = RungStatus.DONE, *, when: datetime = START, reason: str = "", **outcome: Fact
) -> RungReport:
    return RungReport(rung=rung, status=status, at=when, reason=reason, outcome=outcome)
