"""The command with twins for everything, and things to put into them."""

import argparse
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from console.commands import dlq
from console.dlq.model import DroppedBatch, Message, Stack, StreamRecord
from console.dlq.parts import Parts
from console.dlq.twins import MemoryDroppedBatches, MemoryQueues, MemoryRedrives, MemoryStream, MemoryTargets
from functions.ports.triage import Reject
from functions.twins.triage import MemoryRejects
from policies.contract.decisions import AskMessage

NOW = datetime(2026, 3, 10, 3, 0, tzinfo=UTC)
TOKEN = "AQCEAAAAKgAAAAMAAAAAAAAAAc3VwZXJzZWNyZXQ"
OUTBOX = "arn:aws:lambda:us-east-1:123456789012:function:outbox"
PREFIX = "aws/lambda/1f0b/shard-0/2026/03/10/"


def envelope(instance: str, **changes: object) -> bytes:
    document = {
        "schema_version": 1,
        "node": {"cluster": "c", "name": "n", "instance_id": instance},
        "spool_id": "s",
        "first_seq": 0,
        "sent_at": "2026-03-10T02:00:00.000000Z",
        "events": [],
    }
    return json.dumps({**document, **changes}).encode()


def reject(number: int, payload: bytes, *, hours: float = 1, reason: str = "schema_version 2 is unknown.") -> Reject:
    return Reject(f"{number:032x}", NOW - timedelta(hours=hours), "faults", reason, "Update the pipeline.", payload)


def kinesis_batch(name: str, *keys: str) -> DroppedBatch:
    records = [StreamRecord(key, envelope(key, first_seq=place), str(place)) for place, key in enumerate(keys)]
    stream = "arn:aws:kinesis:us-east-1:123456789012:stream/faults"
    return DroppedBatch(f"{PREFIX}{name}", "RetryAttemptsExhausted", 5, f"{OUTBOX}x", stream, {"Records": []}, records)


def table_batch(name: str) -> DroppedBatch:
    stream = "arn:aws:dynamodb:us-east-1:123456789012:table/Incidents/stream/2026"
    return DroppedBatch(f"{PREFIX}{name}", "RecordAgeExceeded", 5, OUTBOX, stream, {"Records": [{"dynamodb": {}}]})


@dataclass
class Desk:
    """The command with twins for everything."""

    queues: MemoryQueues = field(default_factory=lambda: MemoryQueues(lambda: NOW))
    rejects: MemoryRejects = field(default_factory=MemoryRejects)
    dropped: MemoryDroppedBatches = field(default_factory=MemoryDroppedBatches)
    redrives: MemoryRedrives = field(default_factory=MemoryRedrives)
    stream: MemoryStream = field(default_factory=MemoryStream)
    targets: MemoryTargets = field(default_factory=MemoryTargets)

    def __post_init__(self) -> None:
        self.dead = self.queues.create("dead", fifo=True)
        source = self.queues.create("decisions", fifo=True, dead_letters=self.dead.arn)
        self.stack = Stack("Relight", {"DecisionsQueueUrl": source.url}, [self.dead.url, source.url])

    def run(self, *words: str) -> int:
        parser = argparse.ArgumentParser()
        dlq.add_arguments(parser)
        parts = Parts(
            stack=self.stack,
            queues=self.queues,
            rejects=self.rejects,
            dropped=self.dropped,
            redrives=self.redrives,
            stream=self.stream,
            targets=self.targets,
            clock=lambda: NOW,
            pause=lambda _seconds: None,
        )
        return dlq.perform(parser.parse_args(words), parts)

    def drop(self, *batches: DroppedBatch) -> None:
        for place, batch in enumerate(batches):
            self.dropped.batches[batch.key] = (NOW - timedelta(hours=1) + timedelta(minutes=place), batch)

    def ask(self) -> None:
        ask = AskMessage(cluster="c", incident="i", attempt=1, step=2, task_token=TOKEN)
        self.queues.send(self.dead.url, Message("m", ask.to_json(), NOW, 0, group="c"), fifo=True)
