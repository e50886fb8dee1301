"""Contributions of many nodes to one count, for tests of coordinate; what is not said is as plain as can be."""

from collections.abc import Sequence
from typing import Any

from policies.contract.decisions import Contribution, Contributions, FindingsMessage, PolicyPlan, WideRule
from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import Action, EvidenceRule, Kind, Orchestrator, PolicyMode, Severity, Source
from tests.tools.incidents import CLUSTER, START, at

TRAINING = JobRef(id="train/llm", orchestrator=Orchestrator.EKS)
START_MS = int(START.timestamp() * 1000)


def wide_rule(*do: Action, revision: int = 1, mode: PolicyMode = PolicyMode.ACTIVE, **how: Any) -> WideRule:  # noqa: ANN401 - fields of the rule
    """Return a rule on three nodes within ten minutes, unless told otherwise."""
    plan = PolicyPlan(
        name="shared-storage-stalled",
        revision=revision,
        mode=mode,
        do=do or (Action.PAGE_OPERATOR,),
        evidence=EvidenceRule.PROBE,
    )
    known: dict[str, Any] = {"per": "cluster", "at_least": 3, "within_ms": 600_000, "distinct": True}
    return WideRule(plan=plan, hash=f"hash-{revision}", **{**known, **how})


def contribution(
    node: str = "i-1",
    seconds: float = 0,
    *,
    seq: int = 0,
    count: int = 1,
    job: JobRef | None = None,
    distinct: str | None = None,
    same: str = "",
    occurrence: str | None = None,
    since: float | None = None,
    message: str = "nfs: server fs-1 not responding, still trying",
    cluster: str = CLUSTER,
) -> Contribution:
    """Return what one event of *node* contributes; node and *seq* tell it from others."""
    event_id = stable_id("event", node, seq)
    moment = START_MS + round(seconds * 1000)
    return Contribution(
        id=stable_id("contribution", event_id),
        event_id=event_id,
        node=NodeIdentity(
            cluster=cluster, name=f"node-{node}", instance_id=node, network_path=("spine", "leaf", "rack-1")
        ),
        job=job,
        kind=Kind.STORAGE_NFS_STALLED,
        severity=Severity.ERROR,
        source=Source.FILESYSTEM,
        moment_ms=moment,
        since_ms=moment if since is None else START_MS + round(since * 1000),
        queued_at=at(seconds),
        count=count,
        distinct=node if distinct is None else distinct,
        same=same,
        occurrence=occurrence,
        message=message,
    )


def contributed(
    *entries: Contribution, rule: WideRule | None = None, scope: str = "cluster", cluster: str = CLUSTER
) -> FindingsMessage:
    """Return the message that carries *entries* to one count."""
    return FindingsMessage(cluster=cluster, findings=(), contributions=(in_one(entries, rule, scope),))


def in_one(entries: Sequence[Contribution], rule: WideRule | None = None, scope: str = "cluster") -> Contributions:
    return Contributions(rule=rule or wide_rule(), scope=scope, entries=tuple(entries))
