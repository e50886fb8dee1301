"""Sorts a batch of records by node and puts aside what is no envelope.

Decides what a bad record looks like in the rejects store. It must not know state or policies.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from functions.ports.triage import NodeKey, Reject
from functions.triage.records import Record
from policies.contract.envelope import CANARY_NODE, Envelope, RejectedEvent, parse_envelope
from policies.contract.errors import BadInputError
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import Source
from policies.evaluator import Delivery

# EKS cluster names have 1 to 100 of these; an SQS group id takes 128 characters without spaces (their API references).
_CLUSTER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_INSTANCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}")
LONGEST_NAME, LONGEST_PATH = 256, 16
_USUAL = 1_000  # characters of all its names together: what has more is junk, and must not fill memory
REDRIVE = "redrive-"  # how the spool of what was sent again begins
# Who speaks about a node from outside it.
_OUTSIDE = frozenset({
    Source.EC2,
    Source.HEALTH,
    Source.AUTOSCALING,
    Source.SAGEMAKER,
    Source.HYPERPOD,
    Source.KUBERNETES,
    Source.SLURM,
    Source.NVSENTINEL,
    Source.SWEEP,
    Source.PERSON,
})  # fmt: skip


class Arrival(NamedTuple):
    """One good envelope and the record it came in."""

    record: Record
    delivery: Delivery

    @property
    def node(self) -> NodeKey:
        """Whose it is."""
        node = self.delivery.parsed.envelope.node
        return NodeKey(node.cluster, node.instance_id)

    @property
    def is_canary(self) -> bool:
        """Whether the sweep sent it, to prove the pipeline."""
        return self.delivery.parsed.envelope.node.name == CANARY_NODE


@dataclass
class Sorted:
    """A batch by node, with what is no envelope and the canaries apart."""

    nodes: dict[NodeKey, list[Arrival]] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    canaries: list[Arrival] = field(default_factory=list)


def sort_records(records: Iterable[Record]) -> Sorted:
    """Parse every record once; one bad record spoils nothing but itself."""
    batch = Sorted()
    for record in records:
        arrival = read_record(record)
        if isinstance(arrival, Reject):
            batch.rejects.append(arrival)
        elif arrival.is_canary:
            batch.canaries.append(arrival)
        else:
            batch.nodes.setdefault(arrival.node, []).append(arrival)
    return batch


def read_record(record: Record) -> Arrival | Reject:
    """Return the envelope in *record*, or why there is none."""
    try:
        parsed = parse_envelope(record.body)
        check_sender(parsed.envelope)
    except BadInputError as error:
        return reject_record(record, error)
    except Exception as error:  # noqa: BLE001 - a defect of ours, met by this record alone: see judging.py
        broken = BadInputError(f"reading it broke ({type(error).__name__}).", hint="Please report it.")
        return reject_record(record, broken)
    return Arrival(record, Delivery(parsed, record.arrived_at, record.in_order))


def is_sign_of_life(envelope: Envelope) -> bool:
    """Whether the node itself sent *envelope*, just now: one without events is a heartbeat."""
    if envelope.spool_id.startswith(REDRIVE):
        return False
    return not envelope.events or not _OUTSIDE.issuperset([event.source for event in envelope.events])


def check_sender(envelope: Envelope) -> None:
    """Raise BadInputError when names in *envelope* cannot be keys: a table or queue would refuse the whole batch."""
    node = envelope.node
    texts = (node.name, node.instance_type, node.availability_zone, node.boot_id, node.driver_version)
    names = (node.cluster, node.instance_id, *texts, envelope.spool_id)
    usual = sum(map(len, (*names, *node.network_path))) <= _USUAL
    wrong = (_wrong_of if usual else _wrong_of.__wrapped__)(names, node.network_path)
    if wrong:
        raise BadInputError(f"the sender's {wrong} cannot be used as a key.", hint="Check the sender's settings.")


@lru_cache(maxsize=8192)  # a node says the same of itself each time
def _wrong_of(names: tuple[str, ...], path: tuple[str, ...]) -> str:
    cluster, instance_id, *texts = names
    if not _CLUSTER.fullmatch(cluster):
        return f"cluster {cluster[:40]!r}"
    if not _INSTANCE.fullmatch(instance_id):
        return f"instance_id {instance_id[:40]!r}"
    if max(map(len, (*texts, *path))) > LONGEST_NAME or len(path) > LONGEST_PATH:
        return "one of its names is too long, which"
    return ""


def reject_record(record: Record, error: BadInputError) -> Reject:
    """Return the reject of a whole record; sent again as it is, it is judged again."""
    return Reject(
        id=stable_id("reject", record.lane, record.id),
        arrived_at=record.arrived_at,
        lane=record.lane,
        reason=error.message,
        hint=error.hint,
        payload=record.body,
    )


def reject_event(arrival: Arrival, refused: RejectedEvent, place: int) -> Reject:
    """Return the reject of one event of a good envelope.

    Its seq counts as received, so what is sent again comes from a spool of its own, or it would be taken for a repeat.
    """
    record, envelope = arrival.record, arrival.delivery.parsed.envelope
    reject_id = stable_id("reject", record.lane, record.id, refused.seq, place)
    return Reject(
        id=reject_id,
        arrived_at=record.arrived_at,
        lane=record.lane,
        reason=f"an event of a good envelope: {refused.reason}.",
        hint="Update the pipeline before the agents, then redrive; the rest of the envelope went through.",
        payload=_alone(envelope, refused, reject_id),
        cluster=envelope.node.cluster,
        instance_id=envelope.node.instance_id,
    )


def _alone(envelope: Envelope, refused: RejectedEvent, reject_id: str) -> bytes:
    shell = envelope.model_copy(update={"events": (), "first_seq": 0, "spool_id": f"{REDRIVE}{reject_id}"})
    document = {**json.loads(shell.to_json()), "events": [{**refused.payload, "seq": 0}]}
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
