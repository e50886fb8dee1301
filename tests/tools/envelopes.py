"""Builds envelopes, records and rulebooks for tests of triage; what is not said is as plain as can be."""

import base64
from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from policies.contract.envelope import Envelope, NodeIdentity, ParsedEnvelope
from policies.contract.events import Component, FaultEvent, JobRef, Scalar
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import ComponentType, Kind, Severity, Source
from policies.documents import fingerprint
from policies.evaluator import Delivery
from policies.loader import load_document
from policies.model import Policy
from policies.rulebook import AcceptedPolicy, Rulebook, compile_policies
from policies.yaml_text import read_yaml

NOW = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
SHIPPED = Path(__file__).resolve().parents[2] / "policies" / "shipped"
GPU = Component(type=ComponentType.GPU, pci="0000:53:00")


def at(seconds: float) -> datetime:
    """Return the moment *seconds* after NOW."""
    return NOW + timedelta(seconds=seconds)


def node(instance_id: str = "i-1", cluster: str = "c") -> NodeIdentity:
    return NodeIdentity(
        cluster=cluster,
        name=f"node-of-{instance_id}",
        instance_id=instance_id,
        instance_type="p5.48xlarge",
        boot_id="boot-1",
    )


def event(
    seq: int = 0,
    seconds: float = 0,
    *,
    xid: int | None = 79,
    kind: Kind = Kind.GPU_XID,
    component: Component | None = GPU,
    attributes: Mapping[str, Scalar] | None = None,
    count: int = 1,
    job: JobRef | None = None,
    message: str = "",
) -> FaultEvent:
    known: dict[str, Scalar] = {} if xid is None or kind is not Kind.GPU_XID else {"xid": xid}
    return FaultEvent(
        id=stable_id("event", seq, kind, seconds),
        seq=seq,
        kind=kind,
        severity=Severity.ERROR,
        source=Source.KERNEL_LOG,
        observed_at=at(seconds),
        first_observed_at=at(seconds),
        count=count,
        component=component,
        job=job,
        attributes={**known, **(attributes or {})},
        message=message,
    )


def envelope(
    *events: FaultEvent,
    sent: float = 0,
    spool: str = "spool",
    identity: NodeIdentity | None = None,
    first_seq: int | None = None,
) -> Envelope:
    return Envelope(
        node=identity or node(),
        spool_id=spool,
        first_seq=first_seq if first_seq is not None else (events[0].seq if events else 0),
        sent_at=at(sent),
        events=events,
    )


def delivery(*events: FaultEvent, arrived: float | None = None, in_order: bool = True, **more: Any) -> Delivery:  # noqa: ANN401 - as `envelope` takes them
    """Return an envelope sent when its newest event happened and accepted at once, unless told otherwise."""
    newest = max(((one.observed_at - NOW).total_seconds() for one in events), default=0.0)
    sent = more.pop("sent", newest)
    made = envelope(*events, sent=sent, **more)
    return Delivery(ParsedEnvelope(made), at(sent if arrived is None else arrived), in_order)


def policy(**changes: Any) -> Policy:  # noqa: ANN401 - fields of a document
    """Return an accepted policy, by default on Xid 79."""
    document = {
        "name": "test-policy",
        "mode": "active",
        "why": "for a test",
        "when": 'event.kind == "gpu.xid" && event.attributes.xid == 79',
        "do": ["isolate", "replace_node"],
        **changes,
    }
    loaded = load_document(document)
    assert isinstance(loaded, Policy), [str(problem) for problem in loaded]
    return loaded


def rules(*policies: Policy, revision: int = 1) -> Rulebook:
    """Return the rulebook of *policies* (by default one on Xid 79)."""
    return compile_policies(AcceptedPolicy(one, revision, f"hash-{one.name}") for one in policies or (policy(),))


def shipped_documents() -> list[dict[str, Any]]:
    """Return the shipped policies as their files read."""
    return deepcopy(_shipped_documents())


@cache
def _shipped_documents() -> list[dict[str, Any]]:
    """Read once a process: all of them take a second."""
    documents = [read_yaml(path.read_bytes()) for path in sorted(SHIPPED.glob("*.yaml"))]
    return [document for document in documents if isinstance(document, dict)]


def shipped() -> Rulebook:
    """Return the rulebook of the shipped policies."""
    loaded = [(load_document(document), fingerprint(document)) for document in shipped_documents()]
    return compile_policies(AcceptedPolicy(one, 1, known) for one, known in loaded if isinstance(one, Policy))


def kinesis_event(*bodies: bytes, arrived: float = 0, first: int = 1) -> dict[str, Any]:
    """Return what Lambda gets for these record bodies; sequence numbers begin at *first*."""
    return {"Records": [_kinesis(body, first + place, arrived) for place, body in enumerate(bodies)]}


def _kinesis(body: bytes, number: int, arrived: float) -> dict[str, Any]:
    inner = {
        "data": base64.b64encode(body).decode(),
        "sequenceNumber": str(number),
        "approximateArrivalTimestamp": at(arrived).timestamp(),
    }
    return {"eventSource": "aws:kinesis", "eventID": f"shardId-000000000000:{number}", "kinesis": inner}


def sqs_event(*bodies: str, arrived: float = 0, names: Sequence[str] = ()) -> dict[str, Any]:
    """Return what Lambda gets for these message bodies."""
    sent = str(int(at(arrived).timestamp() * 1000))
    return {
        "Records": [
            {
                "eventSource": "aws:sqs",
                "messageId": names[place] if names else f"message-{place}",
                "body": body,
                "attributes": {"SentTimestamp": sent},
            }
            for place, body in enumerate(bodies)
        ]
    }
