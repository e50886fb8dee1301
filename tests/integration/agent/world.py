"""A node with a real agent process on a real log file, and the AWS that it reports to."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3

from policies.contract.envelope import Envelope, parse_envelope

ROOT = Path(__file__).parents[3]
REGION = "us-east-1"


class World:
    """One node and the AWS it reports to."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        self.folder = folder
        self.log = folder / "kernel.log"
        self.log.touch()
        self.endpoint = endpoint
        self.stream = f"faults-{uuid4().hex[:8]}"
        session = boto3.Session("testing", "testing", region_name=REGION)
        self.kinesis = session.client("kinesis", endpoint_url=endpoint)
        self.sqs = session.client("sqs", endpoint_url=endpoint)
        self.queue_url = self.sqs.create_queue(QueueName=f"overflow-{uuid4().hex[:8]}")["QueueUrl"]
        self.written = 0
        self._agents: list[subprocess.Popen[str]] = []

    def make_stream(self) -> None:
        self.kinesis.create_stream(StreamName=self.stream, ShardCount=1)

    def client(self, service: str) -> Any:  # noqa: ANN401 - boto3's clients are of any shape
        session = boto3.Session("testing", "testing", region_name=REGION)
        return session.client(service, endpoint_url=self.endpoint)  # type: ignore[call-overload]

    def start_agent(
        self,
        *,
        arguments: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
        programs: Path | None = None,
        under: Sequence[str] = (),
        **settings: object,
    ) -> subprocess.Popen[str]:
        """Start one; *programs* is a folder that stands first in its PATH, *under* words that stand before its own."""
        values = {
            "CLUSTER": "test",
            "STREAM": self.stream,
            "OVERFLOW_QUEUE_URL": self.queue_url,
            "INSTANCE_ID": "i-0123",
            "NODE_NAME": "node-1",
            "KERNEL_LOG": self.log,
            "SPOOL_DIR": self.folder / "spool",
            "JOURNAL_UNITS": "",
            "HOST_CHECKS": "false",  # what the tests' own machine is like is no part of them
            "SERVICE_LOGS": "",
            "STATUS_SOCKET": "",
            "EVIDENCE_PER_HOUR": 0,
            **settings,
        }
        environ = os.environ | (environ or {}) | {f"RELIGHT_AGENT_{name}": str(value) for name, value in values.items()}
        environ |= {"AWS_ENDPOINT_URL": self.endpoint, "AWS_REGION": REGION}
        environ |= {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
        if programs:
            environ |= {"PATH": f"{programs}:{os.environ['PATH']}"}
        command = [*under, sys.executable, "-m", "agent.main", *arguments]
        with (self.folder / "agent.err").open("a") as errors:
            agent = subprocess.Popen(command, cwd=ROOT, env=environ, stderr=errors, text=True)
        self._agents.append(agent)
        return agent

    def stop_agents(self) -> None:
        for agent in self._agents:
            if agent.poll() is None:
                agent.kill()
            agent.wait(90)

    def said(self) -> list[dict[str, object]]:
        """What the agents wrote to stderr: every line is JSON."""
        return [json.loads(line) for line in (self.folder / "agent.err").read_text().splitlines()]

    def break_gpus(self, count: int, xid: int = 79) -> None:
        """Write *count* faults, each of a GPU of its own."""
        lines = []
        for _ in range(count):
            bus, device = divmod(self.written, 32)
            text = f"NVRM: Xid (PCI:0000:{bus:02x}:{device:02x}): {xid}, pid='<unknown>', name=<unknown>, broken"
            lines.append(f"3,{self.written},{self.written * 1000},-;{text}\n")
            self.written += 1
        with self.log.open("a") as file:
            file.write("".join(lines))

    def in_kinesis(self) -> list[Envelope]:
        return [envelope for _, envelope in self._records()]

    def arrivals(self) -> list[float]:
        """When each event arrived, in the order of arrival (unix seconds)."""
        return [at for at, envelope in self._records() for _ in envelope.events]

    def _records(self) -> list[tuple[float, Envelope]]:
        shards = self.kinesis.describe_stream(StreamName=self.stream)["StreamDescription"]["Shards"]
        start = self.kinesis.get_shard_iterator(
            StreamName=self.stream, ShardId=shards[0]["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )
        records = self.kinesis.get_records(ShardIterator=start["ShardIterator"], Limit=10_000)["Records"]
        return [
            (record["ApproximateArrivalTimestamp"].timestamp(), self._envelope(record["Data"])) for record in records
        ]

    def from_queue(self) -> list[Envelope]:
        messages = self.sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10).get("Messages", [])
        return [self._envelope(message["Body"].encode()) for message in messages]

    def _envelope(self, body: bytes) -> Envelope:
        parsed = parse_envelope(body)
        assert not parsed.rejected
        return parsed.envelope

    def seen(self) -> dict[int, set[str]]:
        """Seq -> ids that arrived under it."""
        found: dict[int, set[str]] = {}
        for envelope in self.in_kinesis():
            for event in envelope.events:
                found.setdefault(event.seq, set()).add(event.id)
        return found
