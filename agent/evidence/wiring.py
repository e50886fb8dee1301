"""The parts that keep evidence on one node, made from its settings. Decides only what is wired to what."""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.evidence.collection import Limits
from agent.evidence.collector import EvidenceCollector
from agent.evidence.parts import Place
from agent.evidence.store import EvidenceStore
from agent.evidence.upload import EvidenceBucket, S3Bucket, Uploader
from agent.evidence.watch import FaultWatch, RecentEvents
from agent.identity import Metadata
from agent.own import OwnWork
from agent.polls.source import since_boot
from agent.settings import Settings
from agent.training_logs.selection import matching
from policies.contract.envelope import NodeIdentity
from policies.contract.errors import DependencyError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EvidenceParts:
    """``uploader`` None: it stays on this node."""

    collector: EvidenceCollector
    watch: FaultWatch
    recent: RecentEvents
    store: EvidenceStore
    uploader: Uploader | None

    def status(self) -> dict[str, Any]:
        """Return what the status endpoint shows."""
        last = self.collector.last
        return {
            "last": last.id if last else None,
            "last_at": last.ended_at if last else None,
            "not_uploaded": len(list(self.store.pending())) if self.uploader else None,
            "upload_failing": self.uploader.failing if self.uploader else "",
            "left_out": self.watch.left_out,
        }


def make_evidence(
    settings: Callable[[], Settings],
    node: NodeIdentity,
    metadata: Metadata,
    region: str,
    *,
    clock: Callable[[], datetime],
    own: OwnWork,
    first: Settings,
) -> EvidenceParts:
    """Return the parts for the settings *first*; *settings* are asked at each collection for where things then lie."""
    store = EvidenceStore(folder_of(first), node.instance_id, node.boot_id, first.evidence_dir_max_bytes)
    recent = RecentEvents()
    uploader = None
    if first.evidence_bucket:
        bucket: EvidenceBucket = S3Bucket(first.evidence_bucket, region)
        uploader = Uploader(store, bucket, f"nodes/{node_name(first, node, metadata, region)}")
    collector = EvidenceCollector(
        node,
        store,
        lambda: place_of(settings()),
        limits=Limits(first.evidence_seconds, first.evidence_bytes),
        clock=clock,
        own=own,
        events=recent.lines,
        uploader=uploader,
    )
    watch = FaultWatch(collector, first.evidence_per_hour, clock=clock, ticks=since_boot)
    return EvidenceParts(collector, watch, recent, store, uploader)


def folder_of(settings: Settings) -> Path:
    """Return the folder of the evidence."""
    return settings.evidence_dir or settings.spool_dir.parent / "evidence"


def place_of(settings: Settings) -> Place:
    """Return where things lie, with the training logs that there are first."""
    logs = tuple(str(one.path) for one in matching(settings.training_logs))
    return Place(settings.procfs, settings.sysfs, settings.kernel_log, settings.beats, logs)


def node_name(settings: Settings, node: NodeIdentity, metadata: Metadata, region: str) -> str:
    """Return the name below which this node may put: its ARN, as the policy's ${ec2:SourceInstanceARN} says it.

    Where nobody tells the account, the instance id: such a node needs a policy of its own.
    """
    if settings.instance_id:
        return node.instance_id
    try:
        account = json.loads(metadata("iam/info"))["InstanceProfileArn"].split(":")[4]
        partition = metadata("services/partition")
    except (DependencyError, ValueError, KeyError, IndexError, TypeError) as error:
        log.warning("the account is not known: evidence goes below the instance id", extra={"why": str(error)})
        return node.instance_id
    return f"arn:{partition}:ec2:{region}:{account}:instance/{node.instance_id}"
