"""Collect evidence: one object a part under `incidents/<id>/`, then a manifest that lists them.

Evidence helps people and vendors; it must never hold up the repair. So each part is bounded in bytes, a part that fails
is noted in the manifest with its reason, and the rung is done either way. Parts are written once: what was kept first,
nearest to the fault, stays. The node is asked for its own part and waited for a little (`node_part.py`).
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from functions.acts.act import ActContext
from functions.evidence.node_part import LOOK_SECONDS, NodeEvidence, NodePart
from functions.ports.instances import Instances
from functions.ports.objects import Objects
from policies.contract.decisions import RungReport
from policies.contract.errors import RelightError
from policies.contract.times import format_time

PART_LIMIT_BYTES = 256 * 1024  # EC2 keeps 64 KiB of console
MANIFEST = "manifest.json"
EC2_INSTANCE = "i-"  # a SageMaker training job, and the hosts it runs on, are none that EC2 shows us


class CollectEvidence:
    """The act."""

    def __init__(
        self, *, instances: Instances, objects: Objects, bucket: str, node: NodeEvidence | None = None
    ) -> None:
        """Take the ports; *bucket* is the evidence bucket. Without *node* no node is asked."""
        self._node = node
        self._instances = instances
        self._objects = objects
        self._bucket = bucket

    def advance(self, context: ActContext) -> RungReport:
        """Keep every part that can be had. Outcome: evidence (the manifest), node_evidence, evidence_failed."""
        folder = f"incidents/{context.incident}"
        address = f"s3://{self._bucket}/{folder}/{MANIFEST}"
        node = self._node.look(context) if self._node and _is_on_ec2(context) else NodePart({})
        parts = _kept_before(context) or [
            self._keep(f"{folder}/{name}", read, context) for name, read in self._parts(context).items()
        ]
        if node.waits_for:
            return context.waiting(LOOK_SECONDS, node.waits_for, parts=parts)
        manifest = {
            "incident": context.incident,
            "collected_at": format_time(context.now),
            "parts": parts,
            **({"node": node.told} if node.told else {}),
        }
        failed = [part["key"] for part in parts if "error" in part]
        told = {"node_evidence": node.told["address"]} if node.told.get("address") else {}
        try:
            self._objects.put_if_absent(self._bucket, f"{folder}/{MANIFEST}", _as_json(manifest))
        except RelightError as error:
            return context.done(evidence="", **told, evidence_failed=[*failed, f"{MANIFEST}: {error.message}"])
        return context.done(evidence=address, **told, **({"evidence_failed": failed} if failed else {}))

    def _parts(self, context: ActContext) -> Mapping[str, Callable[[ActContext], bytes]]:
        told: dict[str, Callable[[ActContext], bytes]] = {
            "incident.json": _incident,
            "findings.json": _findings,
            "messages.txt": lambda context: "\n".join(context.messages).encode(),
        }
        if not _is_on_ec2(context):
            return told
        return told | {
            "instance.json": self._instance,
            "console.txt": lambda context: self._instances.console(context.node.instance_id).encode(),
        }

    def _instance(self, context: ActContext) -> bytes:
        known = self._instances.describe([context.node.instance_id]).get(context.node.instance_id)
        return _as_json(known.description if known else {"state": "unknown to EC2"})

    def _keep(self, key: str, read: Callable[[ActContext], bytes], context: ActContext) -> dict[str, Any]:
        try:
            body = read(context)
            kept = body[-PART_LIMIT_BYTES:]  # the end of a console is what was said last
            self._objects.put_if_absent(self._bucket, key, kept)
        except RelightError as error:
            return {"key": key, "error": error.message[:500]}
        return {"key": key, "bytes": len(kept), **({"cut_from": len(body)} if len(kept) < len(body) else {})}


def _is_on_ec2(context: ActContext) -> bool:
    return context.node.instance_id.startswith(EC2_INSTANCE)


def _kept_before(context: ActContext) -> list[dict[str, Any]]:
    """Return the parts that an earlier look of this rung has kept."""
    parts = context.progress.get("parts")
    return parts if isinstance(parts, list) else []


def _incident(context: ActContext) -> bytes:
    return _as_json({
        "id": context.incident,
        "cluster": context.cluster.name,
        "generation": context.generation,
        "node": context.node.model_dump(mode="json"),
        "job": context.job.model_dump(mode="json", exclude_none=True) if context.job else None,
        "policy": context.plan.model_dump(mode="json"),
        "opened_at": format_time(context.opened_at),
        "attempt": context.attempt,
        "facts": dict(context.facts),
    })  # fmt: skip


def _findings(context: ActContext) -> bytes:
    return _as_json([finding.model_dump(mode="json") for finding in context.findings])


def _as_json(value: object) -> bytes:
    """Return *value* as readable JSON; what JSON does not know (EC2's times, DynamoDB's numbers) becomes text."""
    return json.dumps(value, indent=1, sort_keys=True, default=str).encode()
