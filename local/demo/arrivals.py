"""Which events the agents numbered and which of them arrived: what is in no lane and waits on no node is lost."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from agent.spool.journal import contents_of
from agent.spool.opening import JOURNAL_NAME, replay
from agent.spool.state import SpoolState
from local.aws.server import EmbeddedAws
from local.fleet.machines import MachineRoom
from policies.contract.envelope import CANARY_NODE, parse_envelope


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Sequence numbers given out by all agents, and those of them that are nowhere."""

    sent: int
    lost: int


def count(aws: EmbeddedAws, stream: str, room: MachineRoom) -> Arrivals:
    """Compare the spools on the nodes' disks with the stream. What still waits on a node that is on is not lost."""
    arrived = _arrived(aws, stream)
    sent = lost = 0
    for machine in room:
        state = read_spool(machine.spool)
        if state is None:
            continue
        sent += state.next_seq
        waiting = set(state.waiting) if machine.is_on else set()
        lost += len(set(range(state.next_seq)) - arrived[state.spool_id] - waiting)
    return Arrivals(sent, lost)


def read_spool(folder: Path) -> SpoolState | None:
    """What the journal in this folder says, without opening it as its owner does; None when there is none.

    Its owner may be writing a line in this moment: what has no end yet, or a wrong checksum, is left out.
    """
    try:
        return replay(contents_of((folder / JOURNAL_NAME).read_bytes()))
    except FileNotFoundError:
        return None


def _arrived(aws: EmbeddedAws, stream: str) -> defaultdict[str, set[int]]:
    """Spool id -> sequence numbers in the stream."""
    seqs: defaultdict[str, set[int]] = defaultdict(set)
    for record in records(aws, stream):
        envelope = parse_envelope(record).envelope
        if envelope.node.name != CANARY_NODE:
            seqs[envelope.spool_id].update(event.seq for event in envelope.events)
    return seqs


def records(aws: EmbeddedAws, stream: str) -> list[bytes]:
    """The bytes of every record in the stream, shard by shard."""
    kinesis = aws.client("kinesis")
    found: list[bytes] = []
    for shard in kinesis.list_shards(StreamName=stream)["Shards"]:
        iterator = kinesis.get_shard_iterator(
            StreamName=stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        while iterator:
            answer = kinesis.get_records(ShardIterator=iterator, Limit=10_000)
            found.extend(record["Data"] for record in answer["Records"])
            iterator = answer.get("NextShardIterator") if answer["Records"] else None
    return found
